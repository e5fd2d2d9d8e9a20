package load

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// naiveBooleans returns the texts of cells after a fill: zero, forward, none, or as floats, which may
// be missing. ok is false if a boolean stays missing.
func naiveBooleans(cells []string, fill string) (texts []string, ok bool) {
	fillWith := map[string]string{"zero": "false"}[fill]
	words := map[string]string{"true": "1", "false": "0"}
	if fill == "as floats" {
		words = map[string]string{"true": loadtest.FloatText(1), "false": loadtest.FloatText(0), "": "nan"}
	}
	for _, cell := range cells {
		if cell == "" {
			cell = fillWith
		}
		text, ok := words[strings.ToLower(cell)]
		if !ok {
			return nil, false
		}
		texts = append(texts, text)
		if fill == "forward" {
			fillWith = cell
		}
	}
	return texts, true
}

// TestBooleansOfTextFiles loads booleans in all spellings, some of them missing, from CSV and JSON
// Lines, with and without a fill. Rows after the first thousand have cells that the first do not.
func TestBooleansOfTextFiles(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(r *rapid.T) {
		isCSV := rapid.Bool().Draw(r, "csv")
		words := []string{"true", "false"}
		if isCSV {
			words = append(words, "True", "False", "TRUE", "FALSE")
		}
		cells := rapid.SliceOfN(rapid.SampledFrom(words), 2, 8).Draw(r, "cells")
		if rapid.IntRange(0, 3).Draw(r, "long") == 0 {
			cells = slices.Concat(slices.Repeat(cells[:1], 1200), cells)
		}
		if rapid.Bool().Draw(r, "missing") {
			cells[rapid.IntRange(0, len(cells)-1).Draw(r, "row")] = ""
		}
		fill := rapid.SampledFrom([]string{"none", "zero", "forward", "as floats"}).Draw(r, "fill")
		var o option.Options
		switch fill {
		case "zero":
			o.Fill = option.All(option.FillWith(0))
		case "forward":
			o.Fill = option.ByColumn(map[string]option.Fill{"x": {How: option.FillForward}})
		case "as floats":
			o.DType.By = map[string]string{"x": "float32"}
		}
		name, text := "a.jsonl", ""
		if isCSV {
			name, text = "a.csv", "x,y\n"
		}
		for i, cell := range cells {
			if isCSV {
				text += fmt.Sprintf("%s,%d\n", cell, i)
			} else if cell == "" {
				text += fmt.Sprintf(`{"x":null,"y":%d}`+"\n", i)
			} else {
				text += fmt.Sprintf(`{"x":%s,"y":%d}`+"\n", cell, i)
			}
		}
		o.Sources = []string{loadtest.File(t, name, text)}
		want, ok := naiveBooleans(cells, fill)
		block := rapid.SampledFrom([]int64{40, 1 << 20}).Draw(r, "block")
		m, dir, err := loadInBlocks(t, o, block)
		if !ok {
			seen["refused"]++
			if fill == "none" {
				loadtest.Refused(t, err, "is missing, but only float columns", "`fill={\"x\":0}`")
			} else {
				loadtest.Refused(t, err, "the value is missing", "fill with 0 or 1")
			}
			return
		}
		if err != nil {
			r.Fatal(err)
		}
		l := loadtest.OpenDir(t, dir)
		dtype := layout.Bool
		if fill == "as floats" {
			dtype = layout.Float32
		}
		if c := columnOf(l, "x"); c.DType != dtype {
			r.Fatalf("%s, want %s", c.DType, dtype)
		}
		if got := loadtest.Texts(l, "x"); !slices.Equal(got, want) {
			r.Errorf("%d rows, the last %v\nwant %d, %v\nof %q", len(got), got[max(0, len(got)-8):],
				len(want), want[max(0, len(want)-8):], cells[max(0, len(cells)-8):])
		}
		capitals := slices.ContainsFunc(cells,
			func(cell string) bool { return cell != "" && cell == strings.ToUpper(cell) })
		var notes []string
		if capitals && fill != "as floats" {
			notes = []string{`dtype: column "x" has TRUE or FALSE, which the load takes for booleans`}
			seen["noted"]++
		}
		if got := noteTexts(m.Notes); !slices.Equal(got, notes) {
			r.Errorf("notes %q, want %q", got, notes)
		}
		seen[fill]++
	})
	if len(seen) != 6 {
		t.Errorf("only these were drawn: %v", seen)
	}
}

func TestNotesOfBooleansInCapitals(t *testing.T) {
	const both = "x,y\nTRUE,FALSE\nFALSE,TRUE\n"
	for name, c := range map[string]struct {
		csv  []string
		o    option.Options
		want []string
	}{
		"two columns": {[]string{both}, option.Options{}, []string{
			`dtype: columns "x", "y" have TRUE or FALSE, which the load takes for booleans`}},
		"one is text": {[]string{both},
			option.Options{DType: option.DTypes{By: map[string]string{"x": "text"}}},
			[]string{`dtype: column "y" has TRUE or FALSE, which the load takes for booleans`}},
		"the second file": {[]string{"x\ntrue\n", "x\nTRUE\n"}, option.Options{}, []string{
			`dtype: column "x" has TRUE or FALSE, which the load takes for booleans`}},
		"the first file": {[]string{"x\nTRUE\n", "x\ntrue\n"}, option.Options{}, []string{
			`dtype: column "x" has TRUE or FALSE, which the load takes for booleans`}},
		"a later cell": {[]string{"x\ntrue\nTRUE\n"}, option.Options{}, []string{
			`dtype: column "x" has TRUE or FALSE, which the load takes for booleans`}},
		"none": {[]string{"x\ntrue\nFalse\n"}, option.Options{}, nil},
		"an item": {[]string{both}, option.Options{ItemID: []string{"x"}}, []string{
			`dtype: column "y" has TRUE or FALSE, which the load takes for booleans`}},
		"series with a value that is filled": {[]string{"day,x,y\n2024-01-01,TRUE,\n"},
			option.Options{Time: "day", Melt: option.MeltColumns, Fill: option.All(option.FillWith(0))},
			[]string{`dtype: column "value" has TRUE or FALSE, which the load takes for booleans`}},
		"series": {[]string{"day,x,y\n2024-01-01,TRUE,FALSE\n"},
			option.Options{Time: "day", Melt: option.MeltColumns}, []string{
				`dtype: column "value" has TRUE or FALSE, which the load takes for booleans`}},
	} {
		t.Run(name, func(t *testing.T) {
			for i, text := range c.csv {
				c.o.Sources = append(c.o.Sources, loadtest.File(t, fmt.Sprint(i, ".csv"), text))
			}
			if got := noteTexts(mustLoad(t, c.o).Manifest.Notes); !slices.Equal(got, c.want) {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestAnAppendHasTheNoteOfBooleansOfItsGeneration appends TRUE and FALSE to columns whose type the
// generation decides.
func TestAnAppendHasTheNoteOfBooleansOfItsGeneration(t *testing.T) {
	text := option.Options{DType: option.DTypes{By: map[string]string{"x": "text"}}}
	filled := option.Options{Fill: option.All(option.FillWith(1))}
	forward := option.Options{Fill: option.All(option.Fill{How: option.FillForward})}
	const note = `dtype: column "x" has TRUE or FALSE, which the load takes for booleans`
	const texts = `columns: column "x" has texts, which windows leave out unless a spec names them`
	for name, c := range map[string]struct {
		o          option.Options
		old, added string
		note       string
		want       []string
	}{
		"small to capitals": {option.Options{}, "TRUE\n", "false\ntrue\n", note, []string{"1", "0", "1"}},
		"capitals to small": {option.Options{}, "true\n", "FALSE\n", "", []string{"1", "0"}},
		"capitals to text":  {text, "TRUE\n", "FALSE\nmaybe\nTRUE\n", "", []string{"TRUE", "FALSE", "maybe", "TRUE"}},
		"missing":           {filled, "TRUE\nNA\n", "NA\nFALSE\n", note, []string{"1", "1", "1", "0"}},
		"missing first":     {forward, "TRUE\n", "NA\nFALSE\nNA\n", note, []string{"1", "1", "0", "0"}},
		"capitals to words": {option.Options{}, "MAYBE\nTRUE\n", "FALSE\nTRUE\n", texts,
			[]string{"MAYBE", "TRUE", "FALSE", "TRUE"}},
		"both to words": {option.Options{}, "MAYBE\nTRUE\n", " FALSE \nMAYBE\n", texts,
			[]string{"MAYBE", "TRUE", " FALSE ", "MAYBE"}},
	} {
		t.Run(name, func(t *testing.T) {
			y := func(cells string) string { return "x,y\n" + strings.ReplaceAll(cells, "\n", ",7\n") }
			c.o.Sources = []string{loadtest.File(t, "a.csv", y(c.old))}
			l := mustAppend(t, mustLoad(t, c.o), loadtest.File(t, "b.csv", y(c.added)))
			if got := strings.Join(noteTexts(l.Manifest.Notes), "\n"); got != c.note {
				t.Errorf("notes %q, want %q", got, c.note)
			}
			if got := loadtest.Texts(l, "x"); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestInsertedRowsOfBooleans inserts a row into booleans of a text file, which the hint of the refusal
// allows.
func TestInsertedRowsOfBooleans(t *testing.T) {
	o := option.Options{
		Time: "t", Regrid: json.RawMessage("1"),
		Sources: []string{loadtest.File(t, "a.csv", "t,x\n1,TRUE\n3,TRUE\n")},
	}
	_, _, err := loadInProcess(t, o)
	loadtest.Refused(t, err, `column "x": is bool, which has no missing values, and regrid inserts 1 row`,
		"fill it with `fill={\"x\":\"forward\"}`, or store it as floats with `dtype={\"x\":\"float32\"}`")
	floats := o
	floats.DType.By = map[string]string{"x": "float32"}
	if got := loadtest.Texts(mustLoad(t, floats), "x"); !slices.Equal(got, []string{
		loadtest.FloatText(1), "nan", loadtest.FloatText(1)}) {
		t.Errorf("as floats: %q", got)
	}
	o.Fill = option.ByColumn(map[string]option.Fill{"x": {How: option.FillForward}})
	if got := loadtest.Texts(mustLoad(t, o), "x"); !slices.Equal(got, []string{"1", "1", "1"}) {
		t.Errorf("filled: %q", got)
	}
}
