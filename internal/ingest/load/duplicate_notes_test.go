package load

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// TestLoadsNoteAndLimitTheRowsThatDuplicatesLeavesOut compares the number in the note, and whether a
// load is refused, with a count of the rows by item and time.
func TestLoadsNoteAndLimitTheRowsThatDuplicatesLeavesOut(t *testing.T) {
	refused, noted := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		o := option.Options{
			Time: "t", Sort: true, Columns: []string{"v"},
			Duplicates: rapid.SampledFrom([]string{option.DuplicatesFirst, option.DuplicatesLast,
				option.DuplicatesMean}).Draw(r, "duplicates"),
		}
		same := "time"
		if rapid.Bool().Draw(r, "items") {
			o.ItemID, same = []string{"i"}, "item and time"
		}
		most := option.DefaultMaxDuplicates
		if rapid.Bool().Draw(r, "limit") {
			most = float64(rapid.IntRange(0, 100).Draw(r, "percent")) / 100
			o.MaxDuplicates = &most
		}
		rows := rapid.SampledFrom([]int{1, 2, 5, 10, 25, 100}).Draw(r, "rows")
		kept := map[string]bool{}
		var csv strings.Builder
		csv.WriteString("i,t,v\n")
		for range rows {
			item := rapid.SampledFrom([]string{"a", "b"}).Draw(r, "i")
			at := rapid.IntRange(0, rows).Draw(r, "t")
			fmt.Fprintf(&csv, "%s,%d,0.5\n", item, at)
			if o.ItemID == nil {
				item = ""
			}
			kept[fmt.Sprint(item, at)] = true
		}
		left := rows - len(kept)
		text := fmt.Sprintf("`duplicates=%q` leaves out %d of %d rows, because it keeps one row of each %s",
			o.Duplicates, left, rows, same)
		o.Sources = []string{loadtest.File(t, "a.csv", csv.String())}
		m, _, err := loadInProcess(t, o)
		if left > 0 && float64(left)/float64(rows) > most {
			refused++
			loadtest.Refused(t, err, fmt.Sprintf("%s: more than `max_duplicates=%v` allows", text, most),
				"`max_duplicates=1`")
			return
		}
		if err != nil {
			r.Fatalf("%v\n%s", err, csv.String())
		}
		want := ""
		if left > 0 {
			noted++
			want = "duplicates: " + text
		}
		if got := strings.Join(noteTexts(m.Notes), "\n"); got != want {
			r.Errorf("got %q, want %q", got, want)
		}
		if m.Rows != int64(len(kept)) {
			r.Errorf("%d rows, want %d", m.Rows, len(kept))
		}
	})
	if refused == 0 || noted == 0 {
		t.Errorf("%d draws are refused, %d have a note", refused, noted)
	}
}

// TestAnAppendCountsItsOwnDuplicates loads rows of which none is left out, and appends two, of which
// one is.
func TestAnAppendCountsItsOwnDuplicates(t *testing.T) {
	l := mustLoad(t, option.Options{
		Time: "t", Duplicates: option.DuplicatesLast,
		Sources: []string{loadtest.File(t, "a.csv", "t,v\n1,1\n2,2\n3,3\n")},
	})
	if got := noteTexts(l.Manifest.Notes); len(got) > 0 {
		t.Errorf("the load has notes: %q", got)
	}
	l = mustAppend(t, l, loadtest.File(t, "b.csv", "t,v\n4,4\n4,5\n"))
	want := "duplicates: `duplicates=\"last\"` leaves out 1 of 2 rows, because it keeps one row of each time"
	if got := strings.Join(noteTexts(l.Manifest.Notes), "\n"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	_, err := tryAppend(t, l, loadtest.File(t, "c.csv", "t,v\n5,4\n5,5\n5,6\n"))
	loadtest.Refused(t, err, "c.csv: `duplicates=\"last\"` leaves out 2 of 3 rows, because it keeps one "+
		"row of each time: more than `max_duplicates=0.5` allows",
		"append each item and time once, or load all rows again with `max_duplicates=1`")
}

func TestEveryShareOfDuplicatesUpToTheLimitIsAllowed(t *testing.T) {
	for left := range 100 {
		most := float64(left) / 100
		csv := "t,v\n" + strings.Repeat("0,1\n", left)
		for at := range 100 - left {
			csv += fmt.Sprintf("%d,1\n", at)
		}
		mustLoad(t, option.Options{
			Time: "t", Duplicates: option.DuplicatesFirst, MaxDuplicates: &most,
			Sources: []string{loadtest.File(t, "a.csv", csv)},
		})
	}
}

func TestDuplicatesOfSeriesHaveHintsThatMeltAllows(t *testing.T) {
	l := mustLoad(t, option.Options{
		Time: "t", Melt: option.MeltColumns, Duplicates: option.DuplicatesLast,
		Sources: []string{loadtest.File(t, "a.csv", "t,a,b\n1,1,2\n1,3,4\n2,5,6\n")},
	})
	n := l.Manifest.Notes[0]
	if want := "leaves out 2 of 6 rows, because it keeps one row of each series and time"; !strings.HasSuffix(n.Detail, want) ||
		n.Hint != "if a series has several values of one time by mistake, correct them" {
		t.Errorf("%+v", n)
	}
}

func TestRecipesDoNotDependOnTheDefaultLimitOfDuplicates(t *testing.T) {
	half, all := 0.5, 1.0
	o := option.Options{Time: "t", Duplicates: option.DuplicatesLast}
	recipe := func(most *float64) string {
		o.MaxDuplicates = most
		b, err := o.Recipe()
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if recipe(nil) != recipe(&half) || recipe(nil) == recipe(&all) {
		t.Errorf("recipes %s, %s and %s", recipe(nil), recipe(&half), recipe(&all))
	}
}
