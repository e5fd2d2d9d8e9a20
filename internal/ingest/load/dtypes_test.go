package load

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put/puttest"
	"github.com/tensorcache/tensorcache/layout"
)

func TestDTypesAreSetForAllColumnsOrByColumn(t *testing.T) {
	for text, want := range map[string]string{
		`"float32"`:                   `"float32"`,
		`{"b":"int16","a":"float32"}`: `{"a":"float32","b":"int16"}`,
		`{"*":"float32"}`:             `"float32"`,
		// a is not redundant: * applies to float columns only, but a may be an integer column
		`{"a":"float32","*":"float32"}`:      `{"*":"float32","a":"float32"}`,
		`{"*":"float16","a":"text","b":"x"}`: `{"*":"float16","a":"text","b":"x"}`,
	} {
		var o option.Options
		if err := json.Unmarshal([]byte(`{"dtype":`+text+`}`), &o); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(o.DType); err != nil || string(got) != want {
			t.Errorf("%s became %s, %v, want %s", text, got, err, want)
		}
	}
	if b, err := (option.Options{}).Recipe(); err != nil || strings.Contains(string(b), "dtype") {
		t.Errorf("a recipe without dtype is %s, %v", b, err)
	}
}

// TestColumnsAreStoredAsTheRequestedDType loads the same numbers from columns of every dtype and
// from text, and stores them as every dtype.
func TestColumnsAreStoredAsTheRequestedDType(t *testing.T) {
	all := []layout.DType{
		layout.Float16, layout.Float32, layout.Float64, layout.Int8, layout.Int16, layout.Int32,
		layout.Int64,
		layout.Uint8, layout.Uint16, layout.Uint32, layout.Uint64,
	}
	values := map[layout.DType]any{
		layout.Float16: []uint16{0x3c00, 0x4000, 0x5640}, layout.Float32: []float32{1, 2, 100},
		layout.Float64: []float64{1, 2, 100},
		layout.Int8:    []int8{1, 2, 100}, layout.Int16: []int16{1, 2, 100},
		layout.Int32: []int32{1, 2, 100}, layout.Int64: []int64{1, 2, 100},
		layout.Uint8: []uint8{1, 2, 100}, layout.Uint16: []uint16{1, 2, 100},
		layout.Uint32: []uint32{1, 2, 100}, layout.Uint64: []uint64{1, 2, 100},
	}
	integers, decimals := loadtest.File(t, "integers.csv", "a\n1\n2\n100\n"),
		loadtest.File(t, "decimals.csv", "a\n1.0\n2e0\n100\n")
	check := func(l loadtest.Loaded, d layout.DType, name string) {
		t.Helper()
		want := "[1 2 100]"
		if d.IsFloat() {
			want = fmt.Sprint([]string{loadtest.FloatText(1), loadtest.FloatText(2),
				loadtest.FloatText(100)})
		}
		if c := l.Manifest.Columns[0]; c.DType != d || fmt.Sprint(loadtest.Texts(l, "a")) != want {
			t.Errorf("%s as %s: %s, %v", name, d, c.DType, loadtest.Texts(l, "a"))
		}
	}
	for _, to := range all {
		o := option.Options{DType: option.DTypes{By: map[string]string{"a": string(to)}}}
		for from, values := range values {
			c, b := puttest.ColumnBytes(t, "a", string(from), []int64{3}, values)
			dir, err := loadPut(t, o,
				put.Header{Format: put.FormatColumns, Columns: []put.Column{c}}, b)
			if err != nil {
				t.Fatal(err)
			}
			check(loadtest.OpenDir(t, dir), to, string(from))
		}
		for _, path := range []string{integers, decimals} {
			o.Sources = []string{path}
			check(mustLoad(t, o), to, path)
		}
	}
}

// TestNarrowingErrorsAreReported compares the recorded absolute and relative errors of narrowed
// columns of text and arrays with a naive computation.
func TestNarrowingErrorsAreReported(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		// With 0.5, text columns are float64 and not int64.
		values := append(rapid.SliceOfN(rapid.Float64Range(-60000, 60000), 1, 50).Draw(r,
			"values"), 0.5)
		to := rapid.SampledFrom([]layout.DType{layout.Float16, layout.Float32}).Draw(r, "to")
		var want layout.DTypeError
		lines := []string{"a,b"}
		for _, v := range values {
			x := float64(float32(v))
			if to == layout.Float16 {
				x = float64(layout.HalfOf(v).Float32())
			}
			want.Abs = max(want.Abs, math.Abs(x-v))
			if v != 0 {
				want.Rel = max(want.Rel, math.Abs(x-v)/math.Abs(v))
			}
			lines = append(lines, fmt.Sprintf("%v,1.5", v))
		}
		lines[1] = strings.TrimSuffix(lines[1], ",1.5") + ",NA"
		o := option.Options{DType: option.DTypes{By: map[string]string{"a": string(to)}},
			Layout: rapid.SampledFrom([]string{layout.Columns, layout.Packed}).Draw(r, "layout")}
		var got []*layout.DTypeError
		o.Sources = []string{loadtest.File(t, "x.csv", strings.Join(lines, "\n")+"\n")}
		l := mustLoad(t, o)
		got = append(got, l.Manifest.Columns[0].DTypeError)
		c, b := puttest.ColumnBytes(t, "a", "float64", []int64{int64(len(values))}, values)
		dir, err := loadPut(t, option.Options{DType: option.Floats(string(to)),
			Layout: o.Layout}, put.Header{Format: put.FormatColumns, Columns: []put.Column{c}}, b)
		if err != nil {
			r.Fatal(err)
		}
		got = append(got, loadtest.OpenDir(t, dir).Manifest.Columns[0].DTypeError)
		for i, e := range got {
			if e == nil || e.Abs != want.Abs || math.Abs(e.Rel-want.Rel) > 1e-15*want.Rel {
				r.Fatalf("%d: %+v, want %+v", i, e, want)
			}
		}
		if l.Manifest.Columns[1].DTypeError != nil {
			r.Fatal("a column that is stored unchanged has an error")
		}
	})
}

func TestValuesOutsideTheRequestedDTypeAreRefused(t *testing.T) {
	by := func(pairs ...string) option.Options {
		o := option.Options{DType: option.DTypes{By: map[string]string{}}}
		for i := 0; i < len(pairs); i += 2 {
			o.DType.By[pairs[i]] = pairs[i+1]
		}
		return o
	}
	for _, c := range []struct {
		name, text, want, hint string
		o                      option.Options
	}{
		{"integer too large", "a\n1\n128\n",
			`x.csv, row 2 (line 3), column "a": "128" does not fit int8`,
			"wider dtype with `dtype`", by("a", "int8")},
		{"negative", "a\n1\n-1\n", `row 2 (line 3), column "a": "-1" does not fit uint16`, "wider",
			by("a", "uint16")},
		{"fraction", "a\n1\n1.5\n", `row 2 (line 3), column "a": "1.5" does not fit int32`, "wider",
			by("a", "int32")},
		{"integer in float32", "a\n1\n16777217\n",
			`row 2 (line 3), column "a": "16777217" does not fit float32`, "wider",
			by("a", "float32")},
		{"integer in float16", "a\n1\n2049\n",
			`row 2 (line 3), column "a": "2049" does not fit float16`, "wider", by("a", "float16")},
		{"infinity", "a\n1.5\n65520\n", `row 2 (line 3), column "a": "65520" does not fit float16`,
			"wider", option.Options{DType: option.Floats("float16")}},
		{"missing", "a,b\n1.0,1\nNA,1\n", `row 2 (line 3), column "a": the value is missing`,
			"`fill={\"a\":0}`", by("a", "int16")},
		{"time", "a\n2020-01-01\n", `column "a": is timestamp[s], which is stored as nothing else`,
			"`dtype`", by("a", "float32")},
		{"text", "a\nx\n", `column "a": is text, which is stored as nothing else`, "`dtype`",
			by("a", "float32")},
		{"item", "a,b\n1,2\n", `column "a": names items or times`, "`dtype`",
			func() option.Options { o := by("a", "int8"); o.ItemID = []string{"a"}; return o }()},
		{"unknown", "abc,b\n1,2\n", `dtype: no column is named "abd"; near: abc`, "",
			by("abd", "int8")},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Sources = []string{loadtest.File(t, "x.csv", c.text)}
			_, _, err := loadInProcess(t, c.o)
			loadtest.Refused(t, err, c.want, c.hint)
		})
	}
	for name, sent := range map[string]func() (put.Column, []byte, option.Options, string){
		"integer": func() (put.Column, []byte, option.Options, string) {
			c, b := puttest.ColumnBytes(t, "a", "int64", []int64{3}, []int64{1, 2, 1<<53 + 1})
			return c, b, by("a", "float64"),
				`row 3, column "a": "9007199254740993" does not fit float64`
		},
		"fraction": func() (put.Column, []byte, option.Options, string) {
			c, b := puttest.ColumnBytes(t, "a", "float32", []int64{2, 2}, []float32{1, 2, 2.5, 3})
			return c, b, by("a", "uint8"), `row 2, column "a": "2.5" does not fit uint8`
		},
		"text": func() (put.Column, []byte, option.Options, string) {
			c, b := puttest.ColumnBytes(t, "a", "float32", []int64{1}, []float32{1})
			return c, b, by("a", "text"),
				`column "a": is float32; only columns of text files are taken as text`
		},
	} {
		c, b, o, want := sent()
		if _, err := loadPut(t, o,
			put.Header{Format: put.FormatColumns, Columns: []put.Column{c}}, b); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func TestDTypeTextReadsCellsAsText(t *testing.T) {
	o := option.Options{DType: option.DTypes{By: map[string]string{"zip": "text", "id": "text"}},
		ItemID: []string{"id"}}
	o.Sources = []string{loadtest.File(t, "x.csv", "id,zip\n1,01234\n1,\n2,A1\n2,7\n"),
		loadtest.File(t, "y.csv", "id,zip\n3,5\n")}
	l := mustLoad(t, o)
	if got := fmt.Sprint(loadtest.Values[int32](l, "zip")); got != "[0 -1 1 2 3]" {
		t.Errorf("codes %s", got)
	}
	for code, want := range []string{"01234", "A1", "7", "5"} {
		if w, err := l.Word("zip", int64(code)); err != nil || w != want {
			t.Errorf("word %d is %q, %v, want %q", code, w, err, want)
		}
	}
	if v, err := l.Item(2); err != nil || v[0] != "3" {
		t.Errorf("item 2 is %v, %v", v, err)
	}
}

// TestConversionAfterSortingNamesTheSourceRow filters, sorts and inserts rows before their values
// are converted. The values must move with their rows, and errors must name the row of the source.
func TestConversionAfterSortingNamesTheSourceRow(t *testing.T) {
	o := option.Options{DType: option.DTypes{By: map[string]string{"n": "int16", "v": "float16"}},
		ItemID: []string{"id"}, Time: "t", Sort: true, Items: []json.RawMessage{[]byte(`"b"`)}}
	o.Sources = []string{loadtest.File(t, "x.csv",
		"id,t,n,v\na,1,70000,1.5\nb,3,3,2.5\nb,1,1,0.5\n"),
		loadtest.File(t, "y.csv", "id,t,n,v\nb,2,2,1.5\na,2,1,1.5\n")}
	l := mustLoad(t, o)
	if got := fmt.Sprint(loadtest.Texts(l, "n")); got != "[1 2 3]" {
		t.Errorf("n is %s", got)
	}
	if got := fmt.Sprint(loadtest.Texts(l, "v")); got != fmt.Sprint(
		[]string{loadtest.FloatText(0.5), loadtest.FloatText(1.5), loadtest.FloatText(2.5)}) {
		t.Errorf("v is %s", got)
	}
	o.Items = nil
	_, _, err := loadInProcess(t, o)
	loadtest.Refused(t, err, `x.csv, row 1 (line 2), column "n": "70000" does not fit int16`,
		"`dtype`")
	o.Regrid, o.Items = []byte("1"), []json.RawMessage{[]byte(`"b"`)}
	o.Sources[1] = loadtest.File(t, "y.csv", "id,t,n,v\nb,5,2,1.5\n")
	o.Fill = option.ByColumn(map[string]option.Fill{"n": option.FillWith(7)})
	l = mustLoad(t, o)
	if n, v := fmt.Sprint(loadtest.Texts(l, "n")), loadtest.Texts(l, "v"); n != "[1 7 3 7 2]" ||
		v[3] != "nan" || l.Manifest.Columns[2].DType != layout.Int16 {
		t.Errorf("on a grid: n is %s, v %v", n, v)
	}
}

// TestStepResultsOutsideTheDTypeAreRefused applies steps before the conversion to the dtype. The
// errors and the recorded loss must be those of the results.
func TestStepResultsOutsideTheDTypeAreRefused(t *testing.T) {
	filledAs := func(dtype string) option.Options {
		return option.Options{DType: option.DTypes{By: map[string]string{"a": dtype}},
			Fill: option.All(option.FillWith(0))}
	}
	for _, c := range []struct {
		name, text, want, hint string
		o                      option.Options
	}{
		{"too large for float16", "a\n1.5\n70000.5\n",
			`x.csv, row 2 (line 3), column "a": 70000.5 after the steps does not fit float16`,
			"wider dtype", option.Options{DType: option.Floats("float16"),
				Fill: option.All(option.FillWith(0))}},
		{"rounds to infinity", "a\n1.5\n-65520.0\n", `row 2 (line 3), column "a": -65520 after`,
			"wider dtype", option.Options{DType: option.Floats("float16"),
				Fill: option.All(option.FillWith(0))}},
		{"too large for float32", "a\n0.0\n3e38\n-3e38\n",
			`row 3 (line 4), column "a": -6e+38 after the steps does not fit float32`,
			"wider dtype", option.Options{Diff: option.All(true)}},
		{"an integer that float32 rounds", "a\n1\n16777217\n",
			`row 2 (line 3), column "a": 16777217 after`, "wider dtype", filledAs("float32")},
		{"a fill that is too large", "a\n1\nNA\n",
			`row 2 (line 3), column "a": 300000 after the steps does not fit int16`, "wider dtype",
			option.Options{DType: filledAs("int16").DType,
				Fill: option.All(option.FillWith(300000))}},
		{"an integer that may have been rounded", "a\n9007199254740992\nNA\n",
			`row 1 (line 2), column "a": 9007199254740992 does not fit int64, or is beyond`,
			"leave the column's steps out", filledAs("int64")},
		{"a fraction", "a\n1.5\nNA\n",
			`row 1 (line 2), column "a": 1.5 does not fit int16, or is beyond`,
			"leave the column's steps out", filledAs("int16")},
		{"a first difference", "a\n1\n2\n", `row 1 (line 2), column "a": the difference is missing`,
			"leave the column out of `dtype`",
			option.Options{DType: filledAs("int32").DType, Diff: option.All(true)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Sources = []string{loadtest.File(t, "x.csv", c.text)}
			_, _, err := loadInProcess(t, c.o)
			loadtest.Refused(t, err, c.want, c.hint)
		})
	}
	text := "a\n65519.9\nNA\ninf\n0.1\n"
	l := mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "x.csv", text)},
		DType: option.Floats("float16"), Fill: option.All(option.FillWith(-1))})
	e := l.Manifest.Columns[0].DTypeError
	if want := math.Abs(0.1-float64(layout.HalfOf(0.1).Float32())) / 0.1; e == nil ||
		math.Abs(e.Abs-15.9) > 1e-9 || e.Rel != want && math.Abs(e.Rel-15.9/65519.9) > 1e-12 {
		t.Errorf("lost %+v", e)
	}
	if e := mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "x.csv", text)},
		Fill:  option.All(option.FillWith(-1)),
		Clip:  option.All(option.Clip{High: 9, HasHigh: true}),
		Scale: option.All("minmax")}).Manifest.Columns[0].DTypeError; e != nil {
		t.Errorf("lost %+v without a requested dtype", e)
	}
	if e := mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "x.csv", "a\n1\n2048\n")},
		DType: filledAs("float16").DType,
		Fill:  option.All(option.FillWith(-1))}).Manifest.Columns[0].DTypeError; e != nil {
		t.Errorf("lost %+v of whole numbers", e)
	}
}
