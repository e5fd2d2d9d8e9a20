package tensorcache

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRowsOfALoadAreFilteredSortedAndRegridded sets every option of rows, for a file and for a put.
func TestRowsOfALoadAreFilteredSortedAndRegridded(t *testing.T) {
	c := sharedDaemon(t)
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path,
		[]byte("i,t,v\nb,2,1.5\na,1,2\na,1,4\na,4,8\na,5,9\nb,0,5\nc,2,9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := LoadOptions{
		ItemID: []string{"i"}, Time: "t", Sort: true, Duplicates: "mean", Regrid: 1,
		Where: &LoadWhere{Time: [2]any{nil, 5}}, Items: []any{"a", "b"}, ItemBucket: "0/1",
	}
	put := []PutColumn{
		Texts("i", []string{"b", "a", "a", "a", "a", "b", "c"}),
		Values("t", []int64{2, 1, 1, 4, 5, 0, 2}), Values("v", []float64{1.5, 2, 4, 8, 9, 5, 9}),
	}
	for what, d := range map[string]*Dataset{
		"load": must(
			c.Load(t.Context(), "chosen",
				[]string{filepath.Join(filepath.Dir(path), "*.csv")}, o))(t),
		"put": must(c.Put(t.Context(), "chosen", put, o))(t),
	} {
		want := []float64{5, math.NaN(), 1.5, 3, math.NaN(), math.NaN(), 8}
		same := func(a, b float64) bool { return a == b || a != a && b != b }
		if v := must(Column[float64](d, "v"))(t); !slices.EqualFunc(v, want, same) {
			t.Errorf("%s: %v, want %v", what, v, want)
		}
		if at := must(Column[int64](d, "t"))(t); !slices.Equal(at, []int64{0, 1, 2, 1, 2, 3, 4}) {
			t.Errorf("%s: times %v", what, at)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	o.Duplicates = ""
	_, err := c.Load(t.Context(), "chosen", []string{path}, o)
	if e := (*Error)(nil); !errors.As(err, &e) || e.Type != SourceError ||
		!strings.Contains(e.Detail,
			`x.csv, row 3 (line 4), column "t": two rows of item "a" have the time 1`) ||
		!strings.Contains(e.Hint, "`duplicates=") {
		t.Error(err)
	}
	o.Items = []any{"a", true}
	if _, err := c.Load(t.Context(), "chosen", []string{path}, o); !errors.Is(err, InvalidRequest) {
		t.Error(err)
	}
	_, err = c.Load(t.Context(), "chosen", []string{filepath.Join(t.TempDir(), "*.csv")}, o)
	if e := (*Error)(nil); !errors.As(err, &e) || e.Hint == "" {
		t.Error(err)
	}
}

func TestNotesSayWhatALoadAssumed(t *testing.T) {
	c := sharedDaemon(t)
	path := filepath.Join(t.TempDir(), "panel.csv")
	if err := os.WriteFile(path, []byte("sku,date,y\na,2024-01-01,1\na,2024-01-02,2\n"+
		"b,2024-01-01,3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fields := func(o LoadOptions) []string {
		d := must(c.Load(t.Context(), "noted", []string{path}, o))(t)
		defer d.Close()
		var out []string
		for _, n := range d.Manifest().Notes {
			out = append(out, n.Field)
		}
		return out
	}
	if got := fields(LoadOptions{}); !slices.Equal(got, []string{"item_id"}) {
		t.Errorf("got notes about %q", got)
	}
	if got := fields(LoadOptions{ItemID: []string{"sku"}}); !slices.Equal(got, []string{"time"}) {
		t.Errorf("got notes about %q", got)
	}
	if got := fields(LoadOptions{ItemID: []string{"sku"}, Time: "date"}); len(got) > 0 {
		t.Errorf("got notes about %q", got)
	}
}

// TestWideTablesAndTimesInPartsAreReshaped loads one series a column, one series a row, and a time
// in several columns.
func TestWideTablesAndTimesInPartsAreReshaped(t *testing.T) {
	c := sharedDaemon(t)
	years, months := Values("y", []int16{2020, 2020}), Values("m", []int16{1, 2})
	a, b := Values("a", []float64{1, 2}), Values("b", []float64{3, math.NaN()})
	columns := must(c.Put(t.Context(), "reshaped", []PutColumn{years, months, a, b},
		LoadOptions{TimeParts: []string{"y", "m"}, Melt: true}))(t)
	defer columns.Close()
	if at := must(Column[int64](columns, "time"))(t); !slices.Equal(at,
		[]int64{1577836800, 1580515200, 1577836800, 1580515200}) {
		t.Error(at)
	}
	if v := must(Column[float64](columns, "value"))(t); !slices.Equal(v[:3], []float64{1, 2, 3}) {
		t.Error(v)
	}
	rows := must(c.Put(t.Context(), "reshaped", []PutColumn{Texts("id", []string{"x", "y"}), a, b},
		LoadOptions{Melt: "rows"}))(t)
	defer rows.Close()
	if v := must(Column[float64](rows, "value"))(t); !slices.Equal(v, []float64{1, 3, 2}) ||
		rows.Items() != 2 {
		t.Error(v, rows.Items())
	}
	if _, err := c.Put(t.Context(), "reshaped", []PutColumn{a}, LoadOptions{Melt: "row"}); !errors.Is(
		err, InvalidRequest) {
		t.Error(err)
	}
}

func TestPathsThatAreNotUTF8AreRefused(t *testing.T) {
	_, err := absolutePaths([]string{"a\xff.csv"})
	if err == nil || !strings.Contains(err.Error(), `a\xff.csv": the name is not UTF-8`) {
		t.Errorf("got %v", err)
	}
}

func TestURLsAreRefusedWithoutTheirSecrets(t *testing.T) {
	for url, want := range map[string]string{
		"https://user:secret@h/x.csv?secret": "tensorcache load NAME URL, on the command line, " +
			"loads it",
		"s3://secret/x.parquet": `Python loads it: cache.load("name", "s3://…")`,
		"FILE:///secret":        "leave file:// out",
	} {
		_, err := absolutePaths([]string{url})
		var e *Error
		if !errors.As(err, &e) || e.Type != SourceError || e.Hint != want ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v", url, err)
		}
	}
	for _, path := range []string{"a/b://c", "c:/x", "x y://z"} {
		if _, err := absolutePaths([]string{path}); err != nil {
			t.Errorf("%s: got %v, want a path", path, err)
		}
	}
}
