package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/layout"
)

// integerRow is a row of one of two items. v has an integer per feature; "" is missing.
type integerRow struct {
	item, time int64
	v          []string
}

// writeIntegerStream writes rows as an Arrow stream with the columns i, t and v. v has integers, or
// lists of width integers if width is not 0.
func writeIntegerStream(t testing.TB, path string, kind arrow.DataType, width int,
	rows []integerRow) {
	t.Helper()
	if width > 0 {
		kind = arrow.FixedSizeListOf(int32(width), kind)
	}
	fields := []arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int64},
		{Name: "t", Type: arrow.PrimitiveTypes.Int64}, {Name: "v", Type: kind, Nullable: true}}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	for _, r := range rows {
		b.Field(0).(*array.Int64Builder).Append(r.item)
		b.Field(1).(*array.Int64Builder).Append(r.time)
		to := b.Field(2)
		if list, ok := to.(*array.FixedSizeListBuilder); ok {
			list.Append(true)
			to = list.ValueBuilder()
		}
		for _, v := range r.v {
			if v == "" {
				to.AppendNull()
			} else if err := to.AppendValueFromString(v); err != nil {
				t.Fatal(err)
			}
		}
	}
	var out bytes.Buffer
	record := b.NewRecord()
	w := ipc.NewWriter(&out, ipc.WithSchema(record.Schema()))
	if err := errors.Join(w.Write(record), w.Close(),
		os.WriteFile(path, out.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// naiveFillAndClip fills and clips the values of one feature of an item. ok is false if a load must
// refuse a value, a number of the options, or a result, which must be from least to most.
func naiveFillAndClip(values []string, o option.Options, least, most int64) (out []string,
	ok bool) {
	const bound = 1 << 53
	fill, clip := o.Fill.Of("v"), o.Clip.Of("v")
	steps := fill != (option.Fill{}) || clip != (option.Clip{})
	if steps && math.Max(math.Abs(fill.Value),
		math.Max(math.Abs(clip.Low), math.Abs(clip.High))) >= bound {
		return nil, false
	}
	for i, v := range values {
		if n, err := strconv.ParseInt(v, 10, 64); v != "" && steps &&
			(err != nil || n >= bound || n <= -bound) {
			return nil, false
		}
		switch {
		case v != "":
		case fill.How == option.FillValue:
			v = fmt.Sprint(int64(fill.Value))
		case fill.How == option.FillForward:
			for j := i; j >= 0 && v == ""; j-- {
				v = values[j]
			}
		case fill.How == option.FillBackward:
			for j := i; j < len(values) && v == ""; j++ {
				v = values[j]
			}
		}
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return nil, false
		}
		if clip.HasLow {
			n = max(n, int64(clip.Low))
		}
		if clip.HasHigh {
			n = min(n, int64(clip.High))
		}
		if n < least || n > most {
			return nil, false
		}
		out = append(out, fmt.Sprint(n))
	}
	return out, true
}

// integerType is an Arrow type and the range of the values that its column stores.
type integerType struct {
	arrow       arrow.DataType
	least, most int64
}

// integerTypes are the types of TestIntegersAreFilledExactly.
var integerTypes = []integerType{
	{arrow.PrimitiveTypes.Int64, math.MinInt64, math.MaxInt64},
	{arrow.PrimitiveTypes.Uint64, 0, math.MaxInt64},
	{arrow.PrimitiveTypes.Int8, -128, 127},
	{arrow.PrimitiveTypes.Uint32, 0, math.MaxUint32},
}

// drawIntegerRows draws the rows of two items, in the order of their times. The values are missing,
// small, or near 2^53. Some are too large for steps.
func drawIntegerRows(r *rapid.T, typ integerType, width int) map[int64][]integerRow {
	near := []int64{1<<53 - 4, -1<<53 + 4, 0, 100}
	if rapid.IntRange(0, 3).Draw(r, "too large") == 1 {
		near = append(near, 1<<53, -1<<53, 1<<62, -1<<62)
	}
	value := func() string {
		for {
			n := rapid.SampledFrom(near).Draw(r, "near") + rapid.Int64Range(-3, 3).Draw(r, "off")
			if rapid.IntRange(0, 3).Draw(r, "missing") == 1 {
				return ""
			} else if n >= typ.least && n <= typ.most {
				return fmt.Sprint(n)
			}
		}
	}
	rows := map[int64][]integerRow{}
	for item := range int64(2) {
		for time := range rapid.Int64Range(3, 9).Draw(r, "rows") {
			row := integerRow{item: item, time: time, v: make([]string, max(1, width))}
			for f := range row.v {
				row.v[f] = value()
			}
			rows[item] = append(rows[item], row)
		}
	}
	return rows
}

// drawIntegerSteps draws a layout, a fill and a clip, with numbers around 2^53.
func drawIntegerSteps(r *rapid.T) option.Options {
	o := option.Options{ItemID: []string{"i"}, Time: "t", Sort: true, DType: option.DTypes{}}
	o.Layout = rapid.SampledFrom([]string{"", layout.Packed}).Draw(r, "layout")
	numbers := []float64{-1 << 60, -1 << 53, -1<<53 + 1, -1, 0, 7, 100, 1<<53 - 2,
		1<<53 - 1, 1 << 53}
	if rapid.IntRange(0, 3).Draw(r, "large number") > 0 {
		numbers = numbers[2:9]
	}
	fills := []option.Fill{{How: option.FillForward}, {How: option.FillBackward}, {}}
	if rapid.Bool().Draw(r, "value") {
		fills = []option.Fill{option.FillWith(rapid.SampledFrom(numbers).Draw(r, "filled with"))}
	}
	o.Fill = option.All(rapid.SampledFrom(fills).Draw(r, "fill"))
	if rapid.IntRange(0, 2).Draw(r, "clips") == 1 {
		low := rapid.IntRange(0, len(numbers)-1).Draw(r, "low")
		high := rapid.IntRange(low, len(numbers)-1).Draw(r, "high")
		c := option.Clip{High: numbers[high], HasHigh: true}
		if c.HasLow = rapid.Bool().Draw(r, "has low"); c.HasLow {
			c.Low = numbers[low]
		}
		o.Clip = option.All(c)
	}
	return o
}

// removeRows removes rows at random, so that regrid must insert them: their time becomes -1, and
// their values missing. The first and the last row, and those beside the cut, stay.
func removeRows(r *rapid.T, rows []integerRow, cut int) {
	for at := range rows {
		if at > 0 && at != cut && at != cut-1 && at < len(rows)-1 &&
			rapid.IntRange(0, 4).Draw(r, "removed") == 1 {
			rows[at].v = make([]string, len(rows[at].v))
			rows[at].time = -1
		}
	}
}

// naiveFillAndClipRows applies the steps to the rows of an item, and returns their values row by
// row. ok is false if a load must refuse them.
func naiveFillAndClipRows(rows []integerRow, o option.Options, to integerType) (out []string,
	ok bool) {
	features := make([][]string, len(rows[0].v))
	ok = true
	for f := range features {
		var values []string
		for _, row := range rows {
			values = append(values, row.v[f])
		}
		var fits bool
		features[f], fits = naiveFillAndClip(values, o, to.least, to.most)
		ok = ok && fits
	}
	if !ok {
		return nil, false
	}
	for at := range rows {
		for f := range features {
			out = append(out, features[f][at])
		}
	}
	return out, true
}

// TestIntegersAreFilledExactly fills and clips integers around 2^53, with sort, regrid and append,
// and compares the values with naiveFillAndClip. Integers below 2^53 are exact. The load must
// refuse others.
func TestIntegersAreFilledExactly(t *testing.T) {
	loads, refusals := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp("", "integers")
		if err != nil {
			r.Fatal(err)
		}
		defer os.RemoveAll(dir)
		typ := integerTypes[rapid.SampledFrom([]int{0, 1, 0, 1, 2, 3}).Draw(r, "type")]
		width := rapid.SampledFrom([]int{0, 0, 2}).Draw(r, "width")
		rows := drawIntegerRows(r, typ, width)
		o, stored := drawIntegerSteps(r), typ
		if dtype := rapid.SampledFrom([]string{"", "", "int64", "uint64"}).Draw(r,
			"dtype"); dtype != "" {
			o.DType.By = map[string]string{"v": dtype}
			stored = integerTypes[map[string]int{"int64": 0, "uint64": 1}[dtype]]
		}
		if rapid.Bool().Draw(r, "regrid") {
			o.Regrid = json.RawMessage("1")
		}
		var first, appended []integerRow
		results := map[int64][]string{}
		ok := true
		for item := range int64(2) {
			all := rows[item]
			cut := len(all) // the rows from cut on are appended
			if how := o.Fill.Of("v").How; how == option.FillForward || how == option.FillValue {
				cut = rapid.IntRange(1, len(all)).Draw(r, "cut")
			}
			if o.Regrid != nil {
				removeRows(r, all, cut)
			}
			var fits bool
			results[item], fits = naiveFillAndClipRows(all, o, stored)
			ok = ok && fits
			for at, row := range all {
				if row.time >= 0 && at < cut {
					first = append(first, row)
				} else if row.time >= 0 {
					appended = append(appended, row)
				}
			}
		}
		first = rapid.Permutation(first).Draw(r, "order")
		// Items are in the order of their first rows.
		want := slices.Concat(results[first[0].item], results[1-first[0].item])
		load := func(name string, rows []integerRow, request Request) (string, error) {
			o.Sources = []string{filepath.Join(dir, name+".arrows")}
			writeIntegerStream(t, o.Sources[0], typ.arrow, width, rows)
			request.Dir, request.Options = filepath.Join(dir, name), o
			if err := os.Mkdir(request.Dir, 0o700); err != nil {
				r.Fatal(err)
			}
			_, err := Run(context.Background(), request, &progress.Meter{})
			return request.Dir, err
		}
		out, err := load("first", first, Request{})
		if err == nil && len(appended) > 0 {
			out, err = load("second", appended, Request{Append: &Append{Dir: out}})
		}
		if (err == nil) != ok {
			r.Fatalf("%+v %+v: %v, want success: %v", o, rows, err, ok)
		}
		if err != nil {
			if !strings.Contains(err.Error(), `column "v"`) {
				r.Fatal(err)
			}
			refusals++
			return
		}
		loads++
		d, err := layout.Open(out)
		if err != nil {
			r.Fatal(err)
		}
		defer d.Close()
		if err := d.Verify(); err != nil {
			r.Fatal(err)
		}
		if got := loadtest.Texts(loadtest.Loaded{T: t, Data: d}, "v"); !slices.Equal(got, want) {
			r.Fatalf("%+v %v:\n%v, want\n%v", o, rows, got, want)
		}
	})
	if t.Logf("%d loads, %d refusals", loads, refusals); loads == 0 || refusals == 0 {
		t.Errorf("%d loads and %d refusals, want some of both", loads, refusals)
	}
}

// TestFilledTextColumnsAreIntegersIfAllCellsAre fills text columns whose late cells are integers,
// floats or missing. Integers must be exact if the column is int64.
func TestFilledTextColumnsAreIntegersIfAllCellsAre(t *testing.T) {
	many := strings.Repeat("1\n", 1000+1)
	for text, want := range map[string]layout.DType{
		"v\n9007199254740991\n" + many:                               layout.Int64,
		"v\n1\n" + many + "0.5\n":                                    layout.Float64,
		"v\n1\nNA\n" + many:                                          layout.Float64,
		"v\n1\n" + many + "NA\n":                                     layout.Float64,
		"v\n9223372036854775807\n" + many + "99999999999999999999\n": layout.Float64,
	} {
		l := mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "x.csv", text)},
			Fill: option.All(option.FillWith(0))})
		if c := columnOf(l, "v"); c.DType != want {
			t.Errorf("%.20q is %s, want %s", text, c.DType, want)
		} else if want == layout.Int64 && loadtest.Values[int64](l, "v")[0] != 9007199254740991 {
			t.Error(loadtest.Values[int64](l, "v")[0])
		}
	}
}

// TestTheMeanOfDuplicateIntegersNeedsEqualValues merges rows with equal values and gaps, and
// refuses rows with different values.
func TestTheMeanOfDuplicateIntegersNeedsEqualValues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.arrows")
	o := option.Options{Sources: []string{path}, ItemID: []string{"i"}, Time: "t",
		Duplicates: option.DuplicatesMean, Fill: option.All(option.Fill{How: option.FillForward})}
	writeIntegerStream(t, path, arrow.PrimitiveTypes.Int64, 2, []integerRow{
		{0, 1, []string{"9007199254740991", ""}}, {0, 1, []string{"", "-5"}},
		{0, 1, []string{"9007199254740991", ""}}, {0, 2, []string{"", "7"}},
	})
	if got := loadtest.Values[int64](mustLoad(t, o), "v"); !slices.Equal(got,
		[]int64{9007199254740991, -5, 9007199254740991, 7}) {
		t.Error(got)
	}
	writeIntegerStream(t, path, arrow.PrimitiveTypes.Int64, 0,
		[]integerRow{{0, 1, []string{"2"}}, {0, 1, []string{"4"}}})
	_, _, err := loadInProcess(t, o)
	loadtest.Refused(t, err,
		`row 2, column "v": the rows of item 0 with the time 1 differ, and int64 has no mean`,
		"`duplicates=")
}
