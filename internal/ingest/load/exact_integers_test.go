package load

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/parquet-go/parquet-go"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// TestStepsRefuseIntegersFrom2To53On applies fill and clip to integers that float64, in which steps
// compute, cannot represent exactly. The error must name the value or the option.
func TestStepsRefuseIntegersFrom2To53On(t *testing.T) {
	large := []string{"1", "", "1152921504606846977"} // "" is missing
	unsigned := []string{"", "18446744073709551615", "2"}
	fill := func(v float64) option.Options {
		return option.Options{Fill: option.All(option.FillWith(v))}
	}
	clip := func(c option.Clip) option.Options { return option.Options{Clip: option.All(c)} }
	as := func(dtype string) option.Options {
		return option.Options{Fill: option.All(option.FillWith(0)),
			DType: option.DTypes{By: map[string]string{"v": dtype}}}
	}
	small := []string{"1", "", "3"}
	for _, c := range []struct {
		name       string
		kind       arrow.DataType
		values     []string
		o          option.Options
		want, hint string
	}{
		{"a value", arrow.PrimitiveTypes.Int64, large, fill(0),
			`x.arrows, row 3, column "v": the integer near 1152921504606846976 is not between -2^53 and 2^53`, "out of fill, or"},
		{"a value that is clipped", arrow.PrimitiveTypes.Int64, []string{"5", "9007199254740992"},
			clip(option.Clip{High: 9, HasHigh: true}),
			`row 2, column "v": the integer near 9007199254740992`, "out of clip, or"},
		{"an unsigned value", arrow.PrimitiveTypes.Uint64, unsigned, fill(0),
			`row 2, column "v": the integer near 18446744073709551616`, "out of fill, or"},
		{"a value stored as float64", arrow.PrimitiveTypes.Int64, large, as("float64"),
			`row 3, column "v": the integer near`, "out of fill, or"},
		{"a fill value", arrow.PrimitiveTypes.Int64, small, fill(1 << 60),
			`fill: got 1152921504606846976, want an integer between -2^53 and 2^53 for column "v"`,
			`leave column "v" out of fill`},
		{"a lower bound", arrow.PrimitiveTypes.Int8, small,
			clip(option.Clip{Low: -1 << 53, HasLow: true}), `clip: got -9007199254740992, want`,
			`leave column "v" out of clip`},
		{"an upper bound", arrow.PrimitiveTypes.Uint64, small,
			clip(option.Clip{High: 1e18, HasHigh: true}), `clip: got 1000000000000000000, want`,
			`leave column "v" out of clip`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var rows []integerRow
			for i, v := range c.values {
				rows = append(rows, integerRow{0, int64(i), []string{v}})
			}
			path := filepath.Join(t.TempDir(), "x.arrows")
			writeIntegerStream(t, path, c.kind, 0, rows)
			c.o.Sources, c.o.ItemID, c.o.Time = []string{path}, []string{"i"}, "t"
			_, _, err := loadInProcess(t, c.o)
			loadtest.Refused(t, err, c.want, c.hint)
		})
	}
	_, _, err := loadInProcess(t,
		option.Options{Sources: []string{loadtest.File(t, "x.csv",
			"v,w\n1,5\n9007199254740993,6\n")}, Clip: option.All(option.Clip{HasLow: true})})
	loadtest.Refused(t, err, `x.csv, row 2 (line 3), column "v": the integer near 9007199254740992`,
		"out of clip, or")
	integers := mustLoad(t,
		option.Options{Sources: []string{loadtest.File(t, "x.csv", "v,w\n9007199254740993,-6\n")},
			Clip: option.ByColumn(map[string]option.Clip{"w": {HasLow: true}})})
	if v, w := loadtest.Values[int64](integers, "v")[0],
		loadtest.Values[int64](integers, "w")[0]; v != 9007199254740993 || w != 0 {
		t.Error(v, w)
	}
	floats := mustLoad(t,
		option.Options{Sources: []string{loadtest.File(t, "x.csv", "v\n1e30\nNA\n")},
			Fill: option.All(option.FillWith(1e19)),
			Clip: option.All(option.Clip{High: 1e20, HasHigh: true})})
	if got := loadtest.Values[float64](floats, "v"); !slices.Equal(got, []float64{1e20, 1e19}) {
		t.Error(got)
	}
}

// TestNumbersOfRecipesMustBeExactFloats parses numbers of fill and clip. A number with more digits
// than float64 represents must be refused instead of rounded.
func TestNumbersOfRecipesMustBeExactFloats(t *testing.T) {
	for text, want := range map[string]float64{
		"0.1": 0.1, "1e300": 1e300, "9007199254740992": 1 << 53, "-9007199254740991": -1<<53 + 1,
		"1152921504606846976": 1 << 60,
		"1152921504606847000": 1 << 60, "9007199254740993.0": 1 << 53, "1e18": 1e18,
	} {
		var f option.Fill
		if err := json.Unmarshal([]byte(text), &f); err != nil || f != option.FillWith(want) {
			t.Errorf("%s: %v %v", text, f, err)
		}
	}
	for _, text := range []string{"9007199254740993", "-9223372036854775807", "1152921504606847001",
		"18446744073709551615"} {
		var c option.Clip
		if err := json.Unmarshal([]byte("[null,"+text+"]"), &c); !errors.Is(err,
			option.ErrRounded) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", "x", "nan", "inf", "1e400", "--1", "1-2"} {
		if v, err := option.ParseNumber(text); err == nil || errors.Is(err, option.ErrRounded) {
			t.Errorf("%q is read as %v, %v", text, v, err)
		}
	}
}

// TestAppendRefusesRecipesWithInexactNumbers appends to a dataset of an earlier version, which
// accepted numbers that float64 does not represent.
func TestAppendRefusesRecipesWithInexactNumbers(t *testing.T) {
	d, err := layout.Open(filepath.Join("..", "..", "..", "testdata", "literals"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	_, err = AppendOptions(d.Manifest, []string{"x.csv"})
	loadtest.Refused(t, err,
		"rows cannot be appended with the recipe of the dataset: got 1152921504606846977, want a number that float64 represents exactly",
		"load")
}

// TestAppendRefusesRecipesWhoseTimeFormatIsRefused appends to a dataset of an earlier version, which
// accepted formats that name a field twice.
func TestAppendRefusesRecipesWhoseTimeFormatIsRefused(t *testing.T) {
	m := &layout.Manifest{Recipe: []byte(`{"time": "t", "time_format": "%F %H:%M-%H:%M"}`)}
	_, err := AppendOptions(m, []string{"x.csv"})
	loadtest.Refused(t, err, `rows cannot be appended with the recipe of the dataset: `+
		`time_format: "%F %H:%M-%H:%M": want a format that names the hour once`, "load")
}

// TestNullsInParquetIntegersAreFilled fills int64, uint64, int32 and uint32 columns, in pages with
// and without a dictionary.
func TestNullsInParquetIntegersAreFilled(t *testing.T) {
	type row struct {
		A *int64  `parquet:"a,optional"`
		B *int64  `parquet:"b,optional,dict"`
		C *uint64 `parquet:"c,optional,dict"`
		D *int32  `parquet:"d,optional"`
		E *uint32 `parquet:"e,optional,dict"`
	}
	const n = 5000
	rows := make([]row, n)
	want := make([]int64, n)
	for i := range rows {
		v := int64(i % 1000)
		if want[i] = -1; i%7 != 3 {
			a, b, c, d, e := v<<40, v<<40, uint64(v)<<40, int32(v), uint32(v)
			rows[i], want[i] = row{&a, &b, &c, &d, &e}, v
		}
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := parquet.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	l := mustLoad(t,
		option.Options{Sources: []string{path}, Fill: option.ByColumn(map[string]option.Fill{
			"a": option.FillWith(-1 << 40), "b": option.FillWith(-1 << 40), "c": option.FillWith(0),
			"d": option.FillWith(-1), "e": option.FillWith(0),
		})})
	for i, v := range want {
		least := max(v, 0)
		a, b, c := loadtest.Values[int64](l, "a")[i], loadtest.Values[int64](l, "b")[i],
			loadtest.Values[uint64](l, "c")[i]
		d, e := loadtest.Values[int32](l, "d")[i], loadtest.Values[uint32](l, "e")[i]
		if a != v<<40 || b != v<<40 || c != uint64(least)<<40 || d != int32(v) ||
			e != uint32(least) {
			t.Fatalf("row %d: %d %d %d %d %d, want %d", i, a, b, c, d, e, v)
		}
	}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		if p := columnOf(l, name).Prepared; p.Before == nil || p.Before.Missing != (n-4)/7+1 {
			t.Errorf("column %q: %+v", name, p.Before)
		}
	}
}
