package load

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// dateForms are the ways to write times as integers, by the words of their notes.
var dateForms = map[string]func(time.Time) int64{
	"dates (year, month, day)": func(t time.Time) int64 {
		return int64(t.Year()*10_000 + int(t.Month())*100 + t.Day())
	},
	"seconds since 1970":      time.Time.Unix,
	"milliseconds since 1970": time.Time.UnixMilli,
	"microseconds since 1970": time.Time.UnixMicro,
	"nanoseconds since 1970":  time.Time.UnixNano,
}

// TestNotesNameIntegersThatLookLikeTimes loads random times as integers, with and without a name,
// and sometimes with an integer among them that is no time.
func TestNotesNameIntegersThatLookLikeTimes(t *testing.T) {
	draws := 0
	seen := map[string]int{}
	rapid.Check(t, func(r *rapid.T) {
		if draws++; draws > 60 && testing.Short() {
			r.Skip()
		}
		form := rapid.SampledFrom([]string{"dates (year, month, day)", "seconds since 1970",
			"milliseconds since 1970", "microseconds since 1970", "nanoseconds since 1970",
		}).Draw(r, "form")
		var values []int64
		for range rapid.IntRange(1, 6).Draw(r, "rows") {
			at := time.Date(2000, 1, 1+rapid.IntRange(0, 36_000).Draw(r, "day"), 0, 0, 0, 0, time.UTC)
			values = append(values, dateForms[form](at))
		}
		slices.Sort(values)
		values = slices.Compact(values)
		first := values[0]
		other := rapid.IntRange(0, 3).Draw(r, "other") == 0
		if other {
			values[rapid.IntRange(0, len(values)-1).Draw(r, "row")] = 17
			slices.Sort(values)
		}
		name := rapid.SampledFrom([]string{"day", "t", "Timestamp", "event_date"}).Draw(r, "name")
		isNamed := rapid.Bool().Draw(r, "named")
		o := option.Options{}
		if isNamed {
			o.Time = name
		}
		csv := name + ",v\n"
		for i, v := range values {
			csv += fmt.Sprintf("%d,%d.5\n", v, i)
		}
		o.Sources = []string{loadtest.File(t, "a.csv", csv)}
		var want []string
		if !other && (isNamed || name != "day" || strings.HasPrefix(form, "dates")) {
			text := fmt.Sprintf("time: column %q has integers that look like %s, such as %d, and ",
				name, form, first)
			if isNamed {
				text += "the load takes them for numbers"
			} else {
				text += "`time` names no column"
			}
			want = append(want, text)
			seen[form]++
		}
		l := mustLoad(t, o)
		if got := noteTexts(l.Manifest.Notes); !slices.Equal(got, want) {
			r.Errorf("got %q\nwant %q\nof\n%s", got, want, csv)
		}
		if want == nil || !strings.HasPrefix(form, "dates") && !strings.HasPrefix(form, "seconds") {
			return
		}
		// the call of the hint has no note, and its times are those of the integers
		o.Time, o.TimeFormat = name, "%s"
		if strings.HasPrefix(form, "dates") {
			o.TimeFormat = "%Y%m%d"
		}
		if hint := l.Manifest.Notes[0].Hint; !strings.Contains(hint, fmt.Sprintf("`time_format=%q`", o.TimeFormat)) ||
			isNamed == strings.Contains(hint, fmt.Sprintf("`time=%q`", name)) {
			r.Errorf("the hint is %q", hint)
		}
		l = mustLoad(t, o)
		if len(l.Manifest.Notes) > 0 || l.Manifest.TimeStep != nil && l.Manifest.TimeStep.Step%86_400 != 0 {
			r.Errorf("notes %q, step %+v", noteTexts(l.Manifest.Notes), l.Manifest.TimeStep)
		}
	})
	if len(seen) != len(dateForms) {
		t.Errorf("only these forms have a note: %v", seen)
	}
}

func TestIntegersThatAreNoTimesHaveNoNote(t *testing.T) {
	for name, csv := range map[string]string{
		"month 13":           "date\n20241301\n",
		"day 0":              "date\n20240100\n",
		"years":              "date\n2023\n2024\n",
		"far milliseconds":   "date\n9999999999999\n",
		"sales of a billion": "sales\n1200000000\n1300000000\n",
		"floats":             "date\n20240131.5\n",
	} {
		l := mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "a.csv", csv)}})
		if got := noteTexts(l.Manifest.Notes); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}
