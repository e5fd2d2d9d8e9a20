package source

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
)

// TestPandasIndexes finds the levels and positions of the vectors, which the Python client shares.
func TestPandasIndexes(t *testing.T) {
	b, err := os.ReadFile("../../../testdata/vectors/pandas_index.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name              string
		Types             [][2]string
		Metadata          string
		Levels, Positions []string
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]column.Kind{
		"int64": column.KindInt64, "uint8": column.KindUint8, "double": column.KindFloat64,
	}
	for _, c := range cases {
		x := ParsePandasIndex(c.Metadata)
		for _, one := range c.Types {
			field := column.Column{Name: one[0], Kind: kinds[one[1]]}
			if got := x.IsLevel(field.Name); got != slices.Contains(c.Levels, field.Name) {
				t.Errorf("%s: %q is a level: %v", c.Name, field.Name, got)
			}
			if got := x.leavesOut(field); got != slices.Contains(c.Positions, field.Name) {
				t.Errorf("%s: %q is left out: %v", c.Name, field.Name, got)
			}
		}
	}
}

// TestLevelsAreTheFirstColumns orders fields as those of a frame.
func TestLevelsAreTheFirstColumns(t *testing.T) {
	fields := []column.Column{
		{Name: "a", Kind: column.KindFloat64},
		{Name: "__index_level_0__", Kind: column.KindInt64},
		{Name: "b", Kind: column.KindFloat64},
		{Name: "__index_level_1__", Kind: column.KindText},
		{Name: "n", Kind: column.KindInt64},
		{Name: "__index_level_0__", Kind: column.KindInt64, Width: 3},
	}
	never := func(string) bool { return false }
	const metadata = `{"index_columns": ["__index_level_0__", "n", "__index_level_1__"]}`
	for _, c := range []struct {
		metadata string
		isNamed  func(string) bool
		want     []int
	}{
		{"", never, []int{3, 5, 0, 2, 4}},
		{metadata, never, []int{5, 4, 3, 0, 2}},
		{metadata, func(name string) bool { return name == "__index_level_0__" },
			[]int{1, 5, 4, 3, 0, 2}},
	} {
		got, err := ParsePandasIndex(c.metadata).Columns(fields, c.isNamed)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.metadata, got, err, c.want)
		}
	}
	_, err := PandasIndex{}.Columns(fields[1:2], never)
	loadtest.Refused(t, err, "has no columns besides an index of pandas without a name",
		"write it with columns, or name the index, as frame.rename_axis(\"row\") does in pandas")
	if got, err := (PandasIndex{}).Columns(nil, never); len(got) > 0 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}
