package load

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

func TestMeltedRowsAreOrderedBySeries(t *testing.T) {
	text := "a,t,b\n1,1,4\n2,2,5\n3,3,6.5\n"
	for _, block := range []int64{4, 1 << 20} {
		_, dir, err := loadInBlocks(t,
			option.Options{Sources: []string{loadtest.File(t, "x.csv", text)}, Time: "t",
				Melt: option.MeltColumns}, block)
		if err != nil {
			t.Fatal(err)
		}
		l := loadtest.OpenDir(t, dir)
		if got := loadtest.Values[float64](l, column.MeltedValue); !slices.Equal(got,
			[]float64{1, 2, 3, 4, 5, 6.5}) {
			t.Error(got)
		}
		if got := loadtest.Values[int64](l, "t"); !slices.Equal(got, []int64{1, 2, 3, 1, 2, 3}) {
			t.Error(got)
		}
		if got := loadtest.Texts(l, column.MeltedItem); !slices.Equal(got,
			[]string{"a", "a", "a", "b", "b", "b"}) {
			t.Error(got)
		}
		if r := string(l.Manifest.Recipe); !strings.Contains(r, `"melt": true`) ||
			strings.Contains(r, column.MeltedItem) {
			t.Error("the recipe is", r)
		}
	}
}

func TestErrorsOfMeltedTablesNameTheSourceCell(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"t,a,b\n1,1,1\n2,2,x\n", `x.csv, row 2 (line 3), column "b": "x" is not a number`},
		{"t,a,b\n1,1,1\n1,2,2\n",
			`x.csv, row 2 (line 3), column "t": two rows of item "a" have the time 1`},
		{"t,a,b\n2,1,1\n1,2,2\n",
			`x.csv, row 2 (line 3), column "t": time 1 of item "a" comes after 2`},
		{"t,a,a\n1,1,1\n", `column "a": is the name of several series`},
		{"t,a,b\n1,true,1\n", `column "b": is int64, but series "a" is bool`},
	} {
		_, _, err := loadInProcess(t,
			option.Options{Sources: []string{loadtest.File(t, "x.csv", c.text)},
				Time: "t", Melt: option.MeltColumns})
		loadtest.Refused(t, err, c.want, "")
	}
}

// TestNamesOfSeriesAreNotInAColumnCalledValue loads columns that melt would have twice.
func TestNamesOfSeriesAreNotInAColumnCalledValue(t *testing.T) {
	for want, o := range map[string]option.Options{
		`column "value": names the series, and has the name that`: {Melt: option.MeltRows},
		`item_id: "value": want columns of another name`: {Melt: option.MeltRows,
			ItemID: []string{"value"}},
		`want it with a time column of another name than "value"`: {Melt: option.MeltColumns,
			Time: "value"},
	} {
		o.Sources = []string{loadtest.File(t, "x.csv", "value,a\nx,1\n")}
		_, _, err := loadInProcess(t, o)
		loadtest.Refused(t, err, want, "")
	}
	// Columns that are melted may have the name.
	mustLoad(t, option.Options{Melt: option.MeltRows,
		Sources: []string{loadtest.File(t, "x.csv", "id,value,item\nx,1,2\n")}})
	mustLoad(t, option.Options{Melt: option.MeltColumns,
		Sources: []string{loadtest.File(t, "x.csv", "value,item\n1,2\n")}})
}

func TestAFileOfOneSeriesARowIsPointedToMeltRows(t *testing.T) {
	for text, hint := range map[string]string{
		"V1,V2,V3\nY1,1,2\nY2,3,4\n": "if each row is a series, load it with `melt=\"rows\"`",
		"V1,V2,V3\nY1,1,\nY2,3,4\n":  "`melt=\"rows\"`; otherwise name series of one type",
		"V1,V2,V3\nY1,1,x\nY2,3,y\n": "name series of one type with `columns`",
		"V1,V2\ntrue,1\nfalse,2\n":   "name series of one type with `columns`",
	} {
		_, _, err := loadInProcess(t, option.Options{Melt: option.MeltColumns,
			Sources: []string{loadtest.File(t, "x.csv", text)}})
		loadtest.Refused(t, err, `column "V2": is int64, but series "V1" is `, hint)
		if strings.Contains(text, "x") || strings.Contains(text, "true") {
			e := (*loaderr.SourceError)(nil)
			if errors.As(err, &e) && strings.Contains(e.Hint, "rows") {
				t.Errorf("%q: hint %q", text, e.Hint)
			}
		}
	}
}

// TestPartitionsAreNotMelted loads a partitioned folder with melt. Partition columns must be left
// out with columns.
func TestPartitionsAreNotMelted(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "year=2020"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "year=2020", "x.csv"), []byte("t,a\n1,5\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := loadInProcess(t, option.Options{Sources: []string{dir}, Time: "t", Melt: option.MeltColumns})
	loadtest.Refused(t, err, `column "year": is a partition, not a series`, "`columns`")
	if got := loadtest.Values[int64](mustLoad(t, option.Options{Sources: []string{dir}, Time: "t",
		Melt: option.MeltColumns, Columns: []string{"a"}}), column.MeltedValue); !slices.Equal(got, []int64{5}) {
		t.Error(got)
	}
}
