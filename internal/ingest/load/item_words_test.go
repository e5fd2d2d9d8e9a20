package load

import (
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// TestItemsMayHaveTheNamesOfMissingValues loads each of the words as an item, after other words and
// integers and before them. The hint of the note has no note.
func TestItemsMayHaveTheNamesOfMissingValues(t *testing.T) {
	for _, word := range []string{"NA", "NaN", "nan", "null", "None"} {
		for _, items := range [][]string{{"BW", word}, {word, "BW"}, {"1", word}, {word, "2"}} {
			csv := "country,t,y\n" + items[0] + ",1,NA\n" + items[1] + ",1,2.5\n"
			o := option.Options{ItemID: []string{"country"}, Time: "t",
				Sources: []string{loadtest.File(t, "x.csv", csv)}}
			l := mustLoad(t, o)
			if got := loadtest.Texts(l, "country"); !slices.Equal(got, items) {
				t.Errorf("%q: %q", csv, got)
			}
			want := []string{`item_id: column "country" has the item "` + word +
				`", which the load reads as a name, not as a missing value`}
			if got := noteTexts(l.Manifest.Notes); !slices.Equal(got, want) {
				t.Errorf("%q: %q", csv, got)
			}
			if got := l.Manifest.Notes[0].Hint; got !=
				"if it is a name, load with `dtype={\"country\":\"text\"}`; otherwise remove its rows" {
				t.Error(got)
			}
			o.DType.By = map[string]string{"country": "text"}
			if l = mustLoad(t, o); len(l.Manifest.Notes) > 0 {
				t.Errorf("%q: %q", csv, noteTexts(l.Manifest.Notes))
			}
			o.DType.By, o.NA = nil, []string{word}
			_, _, err := loadInProcess(t, o)
			loadtest.Refused(t, err, "is missing, but an item needs a name", "")
		}
	}
}

// TestTheFirstSeriesMayBeCalledNA reads rows that are series, with and without the option item_id.
func TestTheFirstSeriesMayBeCalledNA(t *testing.T) {
	for _, items := range [][]string{nil, {"i"}} {
		l := mustLoad(t, option.Options{Melt: "rows", ItemID: items,
			Sources: []string{loadtest.File(t, "x.csv", "i,p0,p1\nNA,1,2\nUS,3,\n")}})
		if got := loadtest.Texts(l, "i"); !slices.Equal(got, []string{"NA", "NA", "US"}) {
			t.Error(got)
		}
	}
}
