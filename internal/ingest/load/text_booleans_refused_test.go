package load

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/layout"
)

// TestMeltedBooleans melts series of booleans and texts. Hints name the column of their values.
func TestMeltedBooleans(t *testing.T) {
	melted := option.Options{Time: "t", Melt: option.MeltColumns}
	asText, filled, asFloats := melted, melted, melted
	asText.DType.By = map[string]string{"value": "text"}
	asFloats.DType.By = map[string]string{"value": "float32"}
	filled.Fill = option.ByColumn(map[string]option.Fill{"value": option.FillWith(0)})
	for name, c := range map[string]struct {
		csv    string
		o      option.Options
		want   []string
		reason string
		hint   string
	}{
		"booleans":         {"t,x,y\n1,TRUE,FALSE\n", melted, []string{"1", "0"}, "", ""},
		"as text":          {"t,x,y\n1,TRUE,FALSE\n", asText, []string{"TRUE", "FALSE"}, "", ""},
		"words as text":    {"t,x,y\n1,TRUE,7\n2,a,b\n", asText, []string{"TRUE", "a", "7", "b"}, "", ""},
		"filled":           {"t,x,y\n1,TRUE,\n", filled, []string{"1", "0"}, "", ""},
		"as floats":        {"t,x,y\n1,TRUE,\n", asFloats, []string{loadtest.FloatText(1), "nan"}, "", ""},
		"a missing one":    {"t,x,y\n1,TRUE,TRUE\n2,,FALSE\n", melted, nil, "is missing", `fill={"value":0}`},
		"a word below":     {"t,x,y\n1,TRUE,TRUE\n2,a,FALSE\n", melted, nil, `"a" is neither true nor false`, `dtype={"value":"text"}`},
		"a series of text": {"t,x,y\n1,a,TRUE\n2,b,FALSE\n", melted, nil, `is bool, but series "x" is text`, `dtype={"value":"text"}`},
		"a missing series": {"t,x,y\n1,TRUE,\n2,FALSE,\n", melted, nil, "is missing", `fill={"value":0}`},
		"integers":         {"t,x,y\n1,TRUE,1\n", melted, nil, `is int64, but series "x" is bool`, `dtype={"value":"text"}`},
		"the others":       {"t,x,y\n1,TRUE,a\n2,FALSE,b\n", melted, nil, `is text, but series "x" is bool`, `dtype={"value":"text"}`},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Sources = []string{loadtest.File(t, "a.csv", c.csv)}
			if c.want == nil {
				_, _, err := loadInProcess(t, c.o)
				loadtest.Refused(t, err, c.reason, c.hint)
				return
			}
			if got := loadtest.Texts(mustLoad(t, c.o), "value"); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	l := filled
	l.Sources = []string{loadtest.File(t, "a.jsonl", `{"t":1,"x":true,"y":null}`)}
	if got := loadtest.Texts(mustLoad(t, l), "value"); !slices.Equal(got, []string{"1", "0"}) {
		t.Errorf("JSON Lines: %q", got)
	}
	l = melted
	l.Sources = []string{loadtest.File(t, "a.jsonl", `{"t":1,"x":true,"y":true}`+"\n"+`{"t":2,"x":null,"y":true}`)}
	_, _, err := loadInProcess(t, l)
	loadtest.Refused(t, err, "is missing", `fill={"value":0}`)
}

func TestBooleansThatOptionsRefuse(t *testing.T) {
	fill := func(f option.Fill) option.Options {
		return option.Options{Fill: option.ByColumn(map[string]option.Fill{"x": f})}
	}
	mean := option.Options{Time: "t", Duplicates: option.DuplicatesMean,
		DType: option.DTypes{By: map[string]string{"x": "uint8"}}}
	allow := 1.0
	mean.MaxDuplicates = &allow
	off := fill(option.Fill{})
	const words = "want 0, 1, forward or backward for a column of booleans"
	for name, c := range map[string]struct {
		files        []string
		o            option.Options
		reason, hint string
	}{
		"half":   {[]string{"x,t\nTRUE,1\nNA,2\n"}, fill(option.FillWith(0.5)), words, ""},
		"two":    {[]string{"x,t\nTRUE,1\nNA,2\n"}, fill(option.FillWith(2)), words, ""},
		"linear": {[]string{"x,t\nTRUE,1\nNA,2\n"}, fill(option.Fill{How: option.FillLinear}), words, ""},
		"off":    {[]string{"x,t\nTRUE,1\nNA,2\n"}, off, "is missing", `fill={"x":0}`},
		"mean": {[]string{"x,t\nTRUE,1\nFALSE,1\n"}, mean,
			"the rows with the time 1 differ, and bool has no mean", "duplicates"},
		"texts, then numbers": {[]string{"x,t\nMAYBE,1\n", "x,t\n7,1\n"}, option.Options{},
			`"7" looks like a number, but the cells before it are text`, `dtype={"x":"text"}`},
		"texts, then dates": {[]string{"x,t\nMAYBE,1\n2024-01-01,2\n"}, option.Options{},
			`"2024-01-01" looks like a time, but the cells before it are text`, `dtype={"x":"text"}`},
		"booleans, then integers": {[]string{"x,t\nTRUE,1\n", "x,t\n1,1\n"}, option.Options{},
			"is int64 here but bool in", `dtype={"x":"text"}`},
		"booleans, then texts": {[]string{"x,t\nTRUE,1\n", "x,t\nMAYBE,1\n"}, option.Options{},
			"is text here but bool in", `dtype={"x":"text"}`},
	} {
		t.Run(name, func(t *testing.T) {
			for i, text := range c.files {
				c.o.Sources = append(c.o.Sources, loadtest.File(t, fmt.Sprint(i, ".csv"), text))
			}
			_, _, err := loadInProcess(t, c.o)
			loadtest.Refused(t, err, c.reason, c.hint)
		})
	}
}

// TestHintsOfAppendsDoNotSendToOptions appends what only other options would load.
func TestHintsOfAppendsDoNotSendToOptions(t *testing.T) {
	for name, c := range map[string]struct{ old, added, reason, hint string }{
		"a missing boolean": {"TRUE", "NA", "is missing", `fill={"x":0}`},
		"a word":            {"TRUE", "MAYBE", "is text here but bool in the dataset", "convert the column"},
		"a word below":      {"TRUE", "TRUE\nMAYBE", "is neither true nor false", `dtype={"x":"text"}`},
		"a time":            {"MAYBE", "2024-01-01", "looks like a time, but the cells before it are text", `dtype={"x":"text"}`},
		"a number":          {"MAYBE", "7", "looks like a number, but the cells before it are text", `dtype={"x":"text"}`},
	} {
		t.Run(name, func(t *testing.T) {
			load := mustLoad(t, option.Options{
				Sources: []string{loadtest.File(t, "a.csv", "x\n"+c.old+"\n")}})
			_, err := tryAppend(t, load, loadtest.File(t, "b.csv", "x\n"+c.added+"\n"))
			loadtest.Refused(t, err, c.reason, c.hint)
			loadtest.Refused(t, err, c.reason, "load all rows again")
		})
	}
}

// TestAnAppendRecordsStepsThatVersion01DidNotApply appends to booleans of a text file that were
// loaded with a fill. Version 0.1 applied none to them.
func TestAnAppendRecordsStepsThatVersion01DidNotApply(t *testing.T) {
	old := mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "a.csv", "x\ntrue\n")}})
	o := option.Options{Fill: option.All(option.FillWith(1)),
		Sources: []string{loadtest.File(t, "b.csv", "x\nfalse\nNA\n")}}
	dir := t.TempDir()
	if _, err := Run(context.Background(),
		Request{Dir: dir, Options: o, Append: &Append{Dir: old.Dir}},
		&progress.Meter{}); err != nil {
		t.Fatal(err)
	}
	l := loadtest.OpenDir(t, dir)
	if got := loadtest.Texts(l, "x"); !slices.Equal(got, []string{"1", "0", "1"}) {
		t.Errorf("got %q", got)
	}
	p := columnOf(l, "x").Prepared
	if p == nil || p.Fill != option.FillValue || !slices.Equal(p.FillValue, layout.Floats{1}) {
		t.Fatalf("prepared %+v", p)
	}
	before, err := l.BeforeFill(columnOf(l, "x"))
	if err != nil || len(before) != 1 || before[0].Row != 2 || before[0].Rows != 1 {
		t.Errorf("before the fill %v, %v", before, err)
	}
}

// TestBooleansOfParquetAndTextFiles loads the same column from typed files and from text files, in both
// orders and as every dtype.
func TestBooleansOfParquetAndTextFiles(t *testing.T) {
	type typed struct {
		X bool  `parquet:"x"`
		N int32 `parquet:"n"`
	}
	files := map[string]string{
		"parquet": loadtest.File(t, "a.parquet", parquetOf(t, typed{true, 1}, typed{false, 2})),
		"csv":     loadtest.File(t, "b.csv", "x,n\nTRUE,1\nNA,3\n"),
		"jsonl":   loadtest.File(t, "c.jsonl", `{"x":true,"n":1}`+"\n"+`{"x":null,"n":3}`+"\n"),
	}
	for _, order := range [][]string{{"parquet", "csv"}, {"csv", "parquet"}, {"parquet", "jsonl"},
		{"jsonl", "parquet"}, {"parquet", "csv", "jsonl"}} {
		for _, dtype := range []string{"", "float16", "float32", "float64", "uint8", "int16"} {
			o := option.Options{Columns: []string{"x"}}
			floats := strings.HasPrefix(dtype, "float")
			if dtype != "" {
				o.DType.By = map[string]string{"x": dtype}
			}
			one := "1"
			if floats {
				one = loadtest.FloatText(1)
			} else {
				o.Fill = option.All(option.FillWith(1))
			}
			var want []string
			for _, format := range order {
				o.Sources = append(o.Sources, files[format])
				second := one // filled
				if format == "parquet" {
					second = "0"
				} else if floats {
					second = "nan"
				}
				want = append(want, one, second)
			}
			l := mustLoad(t, o)
			if got := loadtest.Texts(l, "x"); !slices.Equal(got, want) {
				t.Errorf("%v as %q: got %q, want %q", order, dtype, got, want)
			}
			if len(l.Manifest.Notes) > 0 {
				t.Errorf("%v as %q: notes %q", order, dtype, noteTexts(l.Manifest.Notes))
			}
		}
	}
	type integers struct {
		N int64 `parquet:"n"`
	}
	l := mustLoad(t, option.Options{DType: option.DTypes{By: map[string]string{"n": "int16"}},
		Sources: []string{loadtest.File(t, "i.parquet", parquetOf(t, integers{7})), loadtest.File(t, "i.csv", "n\n8\n")}})
	if got := loadtest.Values[int16](l, "n"); !slices.Equal(got, []int16{7, 8}) {
		t.Errorf("integers: %v", got)
	}
}

// TestCellsThatFollowTextsOfAnotherFileAreTexts loads texts of a typed or a text file, and then cells
// that are booleans in a file of their own.
func TestCellsThatFollowTextsOfAnotherFileAreTexts(t *testing.T) {
	type typed struct {
		X string `parquet:"x"`
	}
	second := loadtest.File(t, "b.csv", "x\nTRUE\nMAYBE\nFALSE\n")
	for _, first := range []string{
		loadtest.File(t, "a.csv", "x\nfoo\n"),
		loadtest.File(t, "a.parquet", parquetOf(t, typed{"foo"})),
	} {
		l := mustLoad(t, option.Options{Sources: []string{first, second}})
		if got := loadtest.Texts(l, "x"); !slices.Equal(got, []string{"foo", "TRUE", "MAYBE", "FALSE"}) {
			t.Errorf("%s: got %q", first, got)
		}
	}
}
