package load

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// noteTexts returns the notes of a generation, one line each, without hints.
func noteTexts(notes []layout.Note) []string {
	out := make([]string, len(notes))
	for i, n := range notes {
		out[i] = n.Field + ": " + n.Detail
	}
	return out
}

func TestNotesOfALoad(t *testing.T) {
	const panel = "sku,date,y,color\na,2024-01-01,1,red\na,2024-01-02,2,blue\nb,2024-01-01,3,red\n"
	sku := `item_id: column "sku" looks like the item: the times of column "date" decrease at 1 row, ` +
		"each time where it changes; without `item_id`, windows may contain rows of two items"
	colors := `columns: column "color" has texts, which windows leave out unless a spec names them`
	both := `columns: columns "sku", "color" have texts, ` +
		"which windows leave out unless a spec names them"
	unchecked := "`time` names no column: order, duplicates and jumps are not checked"
	for name, c := range map[string]struct {
		csv  string
		o    option.Options
		want []string
	}{
		"item found": {panel, option.Options{}, []string{sku, colors}},
		"packed":     {panel, option.Options{Layout: layout.Packed}, []string{sku, colors}},
		"both named": {panel, option.Options{ItemID: []string{"sku"}, Time: "date"}, []string{colors}},
		"time named": {panel, option.Options{Time: "date", Sort: true, Duplicates: "first"}, []string{
			"duplicates: `duplicates=\"first\"` leaves out 1 of 3 rows, because it keeps one row of each time", both}},
		"item named":  {panel, option.Options{ItemID: []string{"sku"}}, []string{`time: column "date" has times, and ` + unchecked, colors}},
		"texts meant": {panel, option.Options{Columns: []string{"y", "color"}}, nil},
		"texts by dtype": {panel, option.Options{
			ItemID: []string{"sku"}, Time: "date",
			DType: option.DTypes{By: map[string]string{"color": "text"}},
		}, nil},
		"nothing to say": {"y\n1\n2\n", option.Options{}, nil},
		"one item": {"date,y\n2024-01-01,1\n2024-01-02,2\n", option.Options{},
			[]string{`time: column "date" has times, and ` + unchecked}},
		"two times": {"date,y,day\n2024-01-01,1,2024-01-02\n", option.Options{},
			[]string{`time: columns "date", "day" have times, and ` + unchecked}},
		"item in two ranges": {"sku,date,y\na,2024-01-02,1\nb,2024-01-01,3\na,2024-01-03,3\n",
			option.Options{}, []string{
				`time: the times of column "date" do not increase at 1 row, and ` + unchecked,
				`columns: column "sku" has texts, which windows leave out unless a spec names them`,
			}},
		"many texts": {"a,b,c,d,e,f,g\np,q,r,s,t,u,v\n", option.Options{}, []string{
			`columns: columns "a", "b", "c", "d", "e" and 2 more have texts, ` +
				"which windows leave out unless a spec names them"}},
		"name with a backtick": {"a`b`\nx\n", option.Options{}, []string{
			`columns: column "a\u0060b\u0060" has texts, which windows leave out unless a spec names them`}},
		"newest first with a text a row": {"date,title\n2024-01-03,x\n2024-01-02,y\n2024-01-01,z\n",
			option.Options{}, []string{
				`time: the times of column "date" do not increase at 2 rows, and ` + unchecked,
				`columns: column "title" has texts, which windows leave out unless a spec names them`}},
		"by time, then item": {"date,y\n2024-01-01,1\n2024-01-01,2\n2024-01-02,3\n2024-01-02,4\n",
			option.Options{}, []string{
				`time: the times of column "date" do not increase at 2 rows, and ` + unchecked}},
		"item by the second column of times": {
			"made,date,sku\n2024-02-01,2024-01-01,a\n2024-02-01,2024-01-02,a\n2024-02-01,2024-01-01,b\n",
			option.Options{}, []string{sku}},
		"columns without values": {"t,a,,b\n1,,,\n2,7,,\n", option.Options{Time: "t"}, []string{
			`columns: columns "column_3", "b" have no values, so that a spec whose ` +
				"`max_missing` is 0 has no window"}},
		"columns without values that are meant or filled": {"t,a,b,c\n1,,,\n2,,,\n", option.Options{
			Time: "t", Columns: []string{"a", "b"}, Fill: option.All(option.FillWith(0))}, nil},
		"filled": {"t,a\n1,\n", option.Options{Fill: option.All(option.FillWith(0))}, nil},
		"melted": {"date,a,b\n2024-01-01,1,2\n2024-01-02,3,4\n",
			option.Options{Time: "date", Melt: option.MeltColumns}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Sources = []string{loadtest.File(t, "a.csv", c.csv)}
			if got := noteTexts(mustLoad(t, c.o).Manifest.Notes); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestNotesNameTheColumnThatLooksLikeTheItem compares the note of the time with a reading row by
// row, over random rows in both layouts, loaded at once and with some of them appended.
func TestNotesNameTheColumnThatLooksLikeTheItem(t *testing.T) {
	draws, found := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		if draws++; draws > 60 && testing.Short() {
			r.Skip()
		}
		rows := drawPanel(r)
		split := rapid.IntRange(1, len(rows)).Draw(r, "split")
		o := option.Options{Layout: rapid.SampledFrom([]string{
			layout.Columns, layout.Packed}).Draw(r, "layout")}
		o.Sources = []string{loadtest.File(t, "a.csv", panelCSV(rows[:split]))}
		got := mustLoad(t, o)
		check := func(rows []panelRow) {
			t.Helper()
			want, item := naiveNotes(rows)
			if item {
				found++
			}
			if got := noteTexts(got.Manifest.Notes); !slices.Equal(got, want) {
				r.Errorf("got %q\nwant %q\nof\n%s", got, want, panelCSV(rows))
			}
		}
		check(rows[:split])
		if split < len(rows) {
			got = mustAppend(t, got, loadtest.File(t, "b.csv", panelCSV(rows[split:])))
			check(rows)
		}
	})
	if found == 0 {
		t.Error("no draw has a column that looks like the item")
	}
}

// panelRow is a row with two texts, "" for a missing one, and a day of January 2024.
type panelRow struct {
	texts [2]string
	day   int
}

// drawPanel draws rows of a few items. In half of the draws, items follow one another and their
// times rise.
func drawPanel(r *rapid.T) []panelRow {
	var rows []panelRow
	tidy := rapid.Bool().Draw(r, "tidy")
	word := rapid.SampledFrom([]string{"u", "v", "w", ""})
	for item := range rapid.IntRange(1, 4).Draw(r, "items") {
		day := rapid.IntRange(1, 9).Draw(r, "first day")
		for range rapid.IntRange(1, 4).Draw(r, "rows") {
			row := panelRow{[2]string{word.Draw(r, "a"), fmt.Sprint("item", item)}, day}
			if !tidy {
				row = panelRow{[2]string{word.Draw(r, "a"), word.Draw(r, "b")},
					rapid.IntRange(1, 9).Draw(r, "day")}
			}
			rows = append(rows, row)
			day++
		}
	}
	// the first row decides the types of columns
	rows[0].texts[0] = "u"
	rows[0].texts[1] += "x"
	return rows
}

func panelCSV(rows []panelRow) string {
	var b strings.Builder
	b.WriteString("a,b,date,y\n")
	for i, r := range rows {
		fmt.Fprintf(&b, "%s,%s,2024-01-%02d,%d\n", r.texts[0], r.texts[1], r.day, i)
	}
	return b.String()
}

// naiveNotes returns the notes of a load of the rows, and whether one is about the item.
func naiveNotes(rows []panelRow) (notes []string, item bool) {
	var decreases []int
	repeats := 0
	for i := 1; i < len(rows); i++ {
		if rows[i].day < rows[i-1].day {
			decreases = append(decreases, i)
		} else if rows[i].day == rows[i-1].day {
			repeats++
		}
	}
	const left = " texts, which windows leave out unless a spec names them"
	for c, name := range []string{"a", "b"} {
		seen := map[string]bool{}
		once, increases := len(decreases) > 0, false
		for i, r := range rows {
			if i > 0 && r.texts[c] == rows[i-1].texts[c] {
				once = once && !slices.Contains(decreases, i)
				increases = increases || r.day > rows[i-1].day
				continue
			}
			once = once && !seen[r.texts[c]] && r.texts[c] != ""
			seen[r.texts[c]] = true
		}
		if once && increases {
			return []string{
				fmt.Sprintf("item_id: column %q looks like the item: the times of column \"date\" "+
					"decrease at %s, each time where it changes; without `item_id`, windows may "+
					"contain rows of two items", name, loaderr.Count(len(decreases), "row")),
				fmt.Sprintf("columns: column %q has%s", map[string]string{"a": "b", "b": "a"}[name],
					left),
			}, true
		}
	}
	time := `column "date" has times`
	if n := len(decreases) + repeats; n > 0 {
		time = `the times of column "date" do not increase at ` + loaderr.Count(n, "row")
	}
	return []string{
		"time: " + time + ", and `time` names no column: order, duplicates and jumps are not checked",
		`columns: columns "a", "b" have` + left,
	}, false
}

func TestNotesOfSeriesInRows(t *testing.T) {
	const rows = "if each row is a series, load with `melt=\"rows\"`; otherwise leave that column out"
	for text, want := range map[string]bool{
		"V1,V2,V3,V4\nY1,1,2,3\nY2,4,5,\nY3,6,,\n":                              true,
		"id,d_9,d_10,d_11\na,1,2,3\nb,1,2,3\n":                                  true,
		"id,1998,1999,2000\na,1,2,3\nb,1,2,3\n":                                 true,
		"id,2020-01-01,2020-01-02,2020-01-03\na,1,2,3\nb,1,2,3\n":               true,
		"id,30/1/2020,31/1/2020,1/2/2020\na,1,2,3\nb,1,2,3\n":                   true,
		"V1,V2,V3,V4\nY1,1,2,3\nY1,4,5,\n":                                      false, // two rows of one name
		"V1,V2,V3,V4\nY1,1,2,x\nY2,4,5,\n":                                      false, // two columns of texts
		"V1,V2,V3\nY1,1,2\nY2,4,5\n":                                            false, // two values
		"V1,V2,V3,V4\nY1,1,2,3\n":                                               false, // one row
		"V1,V2,V3,V4\nY1,1,2,2020-01-01\nY2,2,2,2020-01-02\n":                   false,
		"V1,V2,V3,V4\nY1,1,2,true\nY2,2,2,false\n":                              false,
		"V1,V2,V3,name\n1,2,3,a\n4,5,6,b\n":                                     false, // the names are last
		"city,people,area,cars\na,1,2,3\nb,4,5,6\n":                             false,
		"date,v1,v2,v3\nJan-20,1,2,3\nFeb-20,4,5,6\n":                           false, // times without time=
		"value,v1,v2,v3\na,1,2,3\nb,4,5,6\n":                                    false,
		`{"t":"2020-01-01","v1":1,"v2":2,"v3":3}` + "\n" + `{"t":"2020-01-02"}`: false,
	} {
		name := "x.csv"
		if text[0] == '{' {
			name = "x.jsonl"
		}
		o := option.Options{Sources: []string{loadtest.File(t, name, text)}}
		got := mustLoad(t, o)
		found := slices.ContainsFunc(got.Manifest.Notes, func(n layout.Note) bool {
			return strings.HasPrefix(n.Hint, rows)
		})
		if found != want {
			t.Errorf("%q: %v", text, got.Manifest.Notes)
		}
		if o.Melt = option.MeltRows; found {
			mustLoad(t, o)
		}
	}
}
