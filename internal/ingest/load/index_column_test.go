package load

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// TestTheIndexOfAFrameIsLeftOut loads a table as pandas and R write it, with an index and without,
// under the same options. Both are the same dataset.
func TestTheIndexOfAFrameIsLeftOut(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rows := rapid.IntRange(1, 2500).Draw(r, "rows")
		first := rapid.SampledFrom([]int{0, 1, 1000}).Draw(r, "first")
		quote := rapid.SampledFrom([]string{"", `"`}).Draw(r, "quote")
		var with, without strings.Builder
		fmt.Fprintf(&with, "%s%s,t,a,word\n", quote, quote)
		without.WriteString("t,a,word\n")
		for i := range rows {
			row := fmt.Sprintf("%d,%g,w%d\n", 100+i, float64(i)/4, i%7)
			if i == 1500 { // widens a column, so that the file is read twice
				row = fmt.Sprintf("%d,,w%d\n", 100+i, i%7)
			}
			fmt.Fprintf(&with, "%s%d%s,%s", quote, first+i, quote, row)
			without.WriteString(row)
		}
		o := option.Options{Time: "t",
			Sources: []string{loadtest.File(t, "x.csv", with.String())}}
		if rapid.Bool().Draw(r, "columns") {
			o.Columns = []string{"word"}
		}
		got := mustLoad(t, o)
		o.Sources = []string{loadtest.File(t, "x.csv", without.String())}
		if want := mustLoad(t, o); !cellTextsOf(got).same(cellTextsOf(want)) {
			r.Error("the values differ from those of the file without an index")
		}
	})
}

// TestOnlyCountersWithoutANameAreLeftOut keeps columns that look like an index but may be more. Their
// names are their places.
func TestOnlyCountersWithoutANameAreLeftOut(t *testing.T) {
	for text, want := range map[string]string{
		",a\n2020-01-01,1\n2020-01-02,2\n": "column_1,a",
		",a\n0,1\n1,2\n":                   "a",
		",a\n0,1\n2,2\n":                   "column_1,a",
		",a\n0.0,1\n1.0,2\n":               "column_1,a",
		",a\n,1\n,2\n":                     "column_1,a",
		",,a\n0,0,1\n1,1,2\n":              "column_2,a",
		"a,,b,\n0,0,1,\n1,1,2,\n":          "a,column_2,b,column_4",
	} {
		l := mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "x.csv", text)}})
		if got := strings.Join(columnNames(l), ","); got != want {
			t.Errorf("%q: columns %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"\n":               "holds nothing but empty lines",
		",a\n0,1,5\n1,2\n": `"0,1,5" has 3 cells`,
		",a\n0,1\n1,2,5\n": `"1,2,5" has 3 cells`,
	} {
		_, _, err := loadInProcess(t, option.Options{
			Sources: []string{loadtest.File(t, "x.csv", text)}})
		loadtest.Refused(t, err, want, "")
	}
	l := mustLoad(t, option.Options{NoHeader: true,
		Sources: []string{loadtest.File(t, "x.csv", "0,1\n1,2\n")}})
	if got := loadtest.Values[int64](l, "c0"); !slices.Equal(got, []int64{0, 1}) {
		t.Error(got)
	}
	a := loadtest.File(t, "a.csv", ",a\n0,1\n1,2\n")
	b := loadtest.File(t, "b.csv", "a\n3\n")
	l = mustLoad(t, option.Options{Sources: []string{a, b}})
	if got := loadtest.Values[int64](l, "a"); !slices.Equal(got, []int64{1, 2, 3}) {
		t.Error(got)
	}
}

// TestOptionsNameColumnsByTheirPlace uses columns without a name in options, also one that counts
// rows. That one is left out if no option names it, or if another column has the name.
func TestOptionsNameColumnsByTheirPlace(t *testing.T) {
	const counts = ",,,a\n0,2020-01-01,x,1\n1,2020-01-02,x,2\n"
	const collides = ",column_0,column_1\n0,5,7\n1,6,8\n"
	for want, c := range map[string]struct {
		csv string
		o   option.Options
	}{
		"column_1,column_2,column_3,a": {counts, option.Options{Time: "column_1"}},
		"column_3,column_2,a,column_1": {counts, option.Options{Time: "column_2",
			ItemID: []string{"column_3"}, Columns: []string{"a", "column_1"}}},
		"column_2,column_1,column_3,a": {counts, option.Options{Time: "column_2",
			DType: option.DTypes{By: map[string]string{"column_1": "float32"}}}},
		"column_3,column_2,a": {counts, option.Options{Time: "column_2", ItemID: []string{"column_3"}}},
		"column_1,column_0":   {collides, option.Options{Time: "column_1"}},
		"column_0,column_1":   {collides, option.Options{}},
	} {
		c.o.Sources = []string{loadtest.File(t, "x.csv", c.csv)}
		if got := strings.Join(columnNames(mustLoad(t, c.o)), ","); got != want {
			t.Errorf("%+v: columns %s, want %s", c.o, got, want)
		}
	}
}

// columnNames returns the names of the columns of a generation.
func columnNames(l loadtest.Loaded) (names []string) {
	for _, c := range l.Manifest.Columns {
		names = append(names, c.Name)
	}
	return names
}
