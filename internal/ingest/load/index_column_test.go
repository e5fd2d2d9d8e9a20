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

// TestOnlyCountersWithoutANameAreLeftOut keeps columns that look like an index but may be more.
func TestOnlyCountersWithoutANameAreLeftOut(t *testing.T) {
	for text, want := range map[string]string{
		",a\n2020-01-01,1\n2020-01-02,2\n": "column 1 has no name",
		",a\n0,1\n2,2\n":                   "column 1 has no name",
		",a\n0.0,1\n1.0,2\n":               "column 1 has no name",
		",a\n,1\n,2\n":                     "column 1 has no name",
		",,a\n0,0,1\n1,1,2\n":              "column 1 has no name", // of those that are left
		"\n":                               "holds nothing but empty lines",
		",a\n0,1,5\n1,2\n":                 "column 1 has no name",
		",a\n0,1\n1,2,5\n":                 `"1,2,5" has 3 cells`,
	} {
		_, _, err := loadInProcess(t, option.Options{
			Sources: []string{loadtest.File(t, "x.csv", text)}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
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
