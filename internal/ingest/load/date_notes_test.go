package load

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// dateForms are the ways to write times as integers, by the words of their notes.
var dateForms = map[string]func(time.Time) int64{
	"dates (year, month, day)": func(t time.Time) int64 {
		return int64(t.Year()*10_000 + int(t.Month())*100 + t.Day())
	},
	"months (year, month)": func(t time.Time) int64 {
		return int64(t.Year()*100 + int(t.Month()))
	},
	"seconds since 1970":      time.Time.Unix,
	"milliseconds since 1970": time.Time.UnixMilli,
	"microseconds since 1970": time.Time.UnixMicro,
	"nanoseconds since 1970":  time.Time.UnixNano,
}

// TestNotesNameIntegersThatLookLikeTimes loads random times as integers, with and without a name,
// and sometimes with an integer among them that is no time.
func TestNotesNameIntegersThatLookLikeTimes(t *testing.T) {
	for form, integer := range dateForms {
		t.Run(form, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				checkDateNote(t, r, form, integer)
			})
		})
	}
}

func checkDateNote(t *testing.T, r *rapid.T, form string, integer func(time.Time) int64) {
	var values []int64
	for range rapid.IntRange(1, 6).Draw(r, "rows") {
		at := time.Date(2000, 1, 1+rapid.IntRange(0, 36_000).Draw(r, "day"), 0, 0, 0, 0, time.UTC)
		values = append(values, integer(at))
	}
	slices.Sort(values)
	values = slices.Compact(values)
	first := values[0]
	other := rapid.IntRange(0, 3).Draw(r, "other") == 0
	if other {
		values[rapid.IntRange(0, len(values)-1).Draw(r, "row")] = 17
		slices.Sort(values)
	}
	name := rapid.SampledFrom([]string{"day", "t", "Timestamp", "event_date", "eventTime", "t2"}).Draw(r, "name")
	isDates, isNamed := strings.HasPrefix(form, "dates"), rapid.Bool().Draw(r, "named")
	o := option.Options{}
	if isNamed {
		o.Time = name
	} else if rapid.IntRange(0, 3).Draw(r, "confirmed") == 0 {
		o.DType.By = map[string]string{name: "int64"}
	}
	csv := "x," + name + ",v\n"
	for i, v := range values {
		csv += fmt.Sprintf("7,%d,%d.5\n", v, i)
	}
	o.Sources = []string{loadtest.File(t, "a.csv", csv)}
	var want []string
	if !other && o.DType.By == nil && (isNamed || name != "day" || isDates && len(values) > 1) {
		text := fmt.Sprintf("time: column %q has integers that look like %s, such as %d, and ",
			name, form, first)
		if isNamed {
			text += "the load stores them as integers, not as times"
		} else {
			text += "`time` names no column"
		}
		want = append(want, text)
	}
	l := mustLoad(t, o)
	if got := noteTexts(l.Manifest.Notes); !slices.Equal(got, want) {
		r.Errorf("got %q\nwant %q\nof\n%s", got, want, csv)
	}
	format := map[string]string{"dates": "%Y%m%d", "months": "%Y%m", "seconds": "%s"}[strings.Fields(form)[0]]
	if want == nil || format == "" {
		return
	}
	// the call of the hint has no note, and its times are those of the integers
	o.Time, o.TimeFormat = name, format
	if hint := l.Manifest.Notes[0].Hint; !strings.Contains(hint, fmt.Sprintf("`time_format=%q`", o.TimeFormat)) ||
		isNamed == strings.Contains(hint, fmt.Sprintf("`time=%q`", name)) {
		r.Errorf("the hint is %q", hint)
	}
	l = mustLoad(t, o)
	if len(l.Manifest.Notes) > 0 || l.Manifest.TimeStep != nil && l.Manifest.TimeStep.Step%86_400 != 0 {
		r.Errorf("notes %q, step %+v", noteTexts(l.Manifest.Notes), l.Manifest.TimeStep)
	}
}

func TestIntegersThatAreNoTimesHaveNoNote(t *testing.T) {
	melted := option.Options{Melt: option.MeltRows}
	for name, c := range map[string]struct {
		csv string
		o   option.Options
	}{
		"month 13":            {"date\n20241301\n", option.Options{}},
		"day 0":               {"date\n20240100\n", option.Options{}},
		"February 30":         {"date\n20240228\n20240230\n", option.Options{}},
		"February 29 of 2023": {"date\n20240229\n20230229\n", option.Options{}},
		"years":               {"date\n2023\n2024\n", option.Options{}},
		"before 1980":         {"ts\n315532799\n", option.Options{}},
		"2100":                {"ts\n4102444800\n", option.Options{}},
		"far milliseconds":    {"date\n9999999999999\n", option.Options{}},
		"sales of a billion":  {"sales\n1200000000\n1300000000\n", option.Options{}},
		"floats":              {"date\n20240131.5\n", option.Options{}},
		"a constant":          {"sensor\n20000101\n20000101\n", option.Options{}},
		"one price":           {"price\n20240131\n", option.Options{}},
		"time within a word":  {"sentiment_id\n1000000001\n1000000002\n", option.Options{}},
		"date within a word":  {"candidate_id\n1000000001\n1000000002\n", option.Options{}},
		"named in columns":    {"date,v\n20240131,1\n", option.Options{Columns: []string{"date", "v"}}},
		"values of series":    {"id,1,2\na,20240131,20240201\n", melted},
		"names of the item":   {"date,v\n20240131,1\n20240201,2\n", option.Options{ItemID: []string{"date"}}},
		"another time":        {"t,date\n2024-01-31,20240131\n2024-02-01,20240201\n", option.Options{Time: "t"}},
	} {
		c.o.Sources = []string{loadtest.File(t, "a.csv", c.csv)}
		if got := noteTexts(mustLoad(t, c.o).Manifest.Notes); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestDateNotesOfOtherSources loads dates that time_format cannot read, and some that one of two
// columns of dates has.
func TestDateNotesOfOtherSources(t *testing.T) {
	folder := t.TempDir()
	for _, date := range []string{"20240131", "20240201"} {
		dir := filepath.Join(folder, "date="+date)
		if err := errors.Join(os.Mkdir(dir, 0o700),
			os.WriteFile(filepath.Join(dir, "a.csv"), []byte("v\n1\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	const note = "time: column \"date\" has integers that look like dates (year, month, day), such as 20240131, and `time` names no column"
	for name, c := range map[string]struct {
		source     string
		layout     string
		want, hint string
	}{
		"JSON Lines": {loadtest.File(t, "a.jsonl", `{"date":20240131}`), "", note,
			"if they are, convert them before the load, as pandas.to_datetime(…, format=\"%Y%m%d\") does"},
		"names of folders": {folder, "", "", ""},
		"the column with a name of times": {loadtest.File(t, "a.csv", "zip,date\n20001205,20240131\n20001101,20240201\n"), "", note,
			"if they are, load with `time=\"date\"` and `time_format=\"%Y%m%d\"`"},
		"packed": {loadtest.File(t, "a.csv", "v,date\n1,20240131\n2,20240201\n"), layout.Packed, note,
			"if they are, load with `time=\"date\"` and `time_format=\"%Y%m%d\"`"},
	} {
		t.Run(name, func(t *testing.T) {
			notes := mustLoad(t, option.Options{Sources: []string{c.source}, Layout: c.layout}).Manifest.Notes
			if got := strings.Join(noteTexts(notes), "\n"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if len(notes) > 0 && notes[0].Hint != c.hint {
				t.Errorf("the hint is %q", notes[0].Hint)
			}
		})
	}
}

func TestAnAppendNotesIntegersThatLookLikeTimes(t *testing.T) {
	l := mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "a.csv", "date\n20240131\n")}})
	l = mustAppend(t, l, loadtest.File(t, "b.csv", "date\n20240201\n"))
	if len(l.Manifest.Notes) != 1 || !strings.HasSuffix(l.Manifest.Notes[0].Hint, "`time_format=\"%Y%m%d\"`") {
		t.Errorf("%+v", l.Manifest.Notes)
	}
	l = mustAppend(t, l, loadtest.File(t, "c.csv", "date\n7\n"))
	if len(l.Manifest.Notes) > 0 {
		t.Errorf("%+v", l.Manifest.Notes)
	}
}
