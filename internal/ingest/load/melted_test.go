package load

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
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
