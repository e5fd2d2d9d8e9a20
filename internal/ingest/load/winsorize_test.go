package load

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

func winsorizeAt(low, high float64) option.PerColumn[option.Winsorize] {
	return option.All(option.Winsorize{Low: low, High: high, On: true})
}

// naiveQuantile returns a quantile of the values that are not NaN, as numpy.nanquantile does to the
// last bit, and NaN if there are none.
func naiveQuantile(values []float64, share float64) float64 {
	values = slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return v != v })
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	at := share * float64(len(values)-1)
	below := int(at)
	t := at - float64(below)
	a, b := values[below], values[min(below+1, len(values)-1)]
	if a == b {
		return a
	}
	if t < 0.5 {
		return a + float64((b-a)*t)
	}
	return b - float64((b-a)*(1-t))
}

// TestWinsorizedColumnsEqualANaiveComputation compares bounds and values with those of a sort, per
// column and per item, with fit rows and missing values, for each dtype, layout and next step.
func TestWinsorizedColumnsEqualANaiveComputation(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var series [][]float64
		for range rapid.IntRange(1, 4).Draw(r, "items") {
			s := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-100, 100), rapid.Just(math.NaN()),
				rapid.Just(7.0)), 2, 60).Draw(r, "values")
			s[0], s[len(s)-1] = 1, 2.5 // values for fits that use the first or the last rows
			series = append(series, s)
		}
		var b strings.Builder
		b.WriteString("i,a\n")
		for i, s := range series {
			for _, v := range s {
				fmt.Fprintf(&b, "%d,%v\n", i, v)
			}
		}
		shares := rapid.SampledFrom([][2]float64{{0.01, 0.99}, {0.05, 0.5}, {0, 1}, {0.3, 0.7},
			{1.0 / 3, 0.9}, {0, 0.25}}).Draw(r, "quantiles")
		dtype := rapid.SampledFrom([]layout.DType{layout.Float64, layout.Float32,
			layout.Float16}).Draw(r, "dtype")
		scales := []string{"", "minmax"}
		if dtype == layout.Float64 { // quotients by a small spread fit no other dtype
			scales = append(scales, "robust", "standard")
		}
		scale := rapid.SampledFrom(scales).Draw(r, "scale")
		o := option.Options{
			Sources: []string{loadtest.File(t, "x.csv", b.String())}, ItemID: []string{"i"},
			Winsorize: winsorizeAt(shares[0], shares[1]), Scale: option.All(scale),
			ScalePer: rapid.SampledFrom([]string{"", "column", "item"}).Draw(r, "per"),
			DType:    option.Floats(string(dtype)), Layout: rapid.SampledFrom(
				[]string{layout.Columns, layout.Packed}).Draw(r, "layout"),
			FitRows: rapid.SampledFrom([]*[2]*int64{nil, fitRows(0, 5), fitRows(-4, 1000),
				{nil, fitRows(0, 1)[1]}}).Draw(r, "fit"),
		}
		l := mustLoad(t, o)
		defer l.Close()
		c := columnOf(l, "a")
		w := c.Prepared.Winsorize
		if w.Quantiles != shares || c.DType != dtype {
			r.Fatalf("stored as %s, %+v", c.DType, w)
		}
		for item, values := range fittedTo(o, series) {
			low, high := naiveQuantile(values, shares[0]), naiveQuantile(values, shares[1])
			at := item % len(w.Low)
			if w.Low[at] != low || w.High[at] != high {
				r.Fatalf("item %d: bounds %v and %v, want %v and %v", item, w.Low[at], w.High[at],
					low, high)
			}
			low, high = w.Low[at], w.High[at] // a zero may have the other sign
			for row, v := range series[item] {
				if v < low {
					series[item][row] = low
				} else if v > high {
					series[item][row] = high
				}
			}
		}
		got := loadtest.Texts(l, "a")
		for item, values := range fittedTo(o, series) {
			shift, divisor := 0.0, 1.0
			if scale != "" {
				at := item % len(c.Scale.Shift)
				shift, divisor = c.Scale.Shift[at], c.Scale.Scale[at]
				wantShift, wantDivisor := naiveFit(scale, values)
				if !nearlyEqual(shift, wantShift, 1e-12) ||
					!nearlyEqual(divisor, wantDivisor, 1e-12) {
					r.Fatalf("item %d: shift %v, scale %v, want %v and %v", item, shift, divisor,
						wantShift, wantDivisor)
				}
			}
			for row, v := range series[item] {
				if want := storedText((v-shift)/divisor, dtype); got[0] != want {
					r.Fatalf("item %d, row %d: %s, want %s", item, row, got[0], want)
				}
				got = got[1:]
			}
		}
	})
}

// fittedTo returns the values that the steps of each item are fitted to.
func fittedTo(o option.Options, series [][]float64) [][]float64 {
	out := make([][]float64, len(series))
	var pool []float64
	for i, s := range series {
		out[i] = fittedValues(o, s)
		pool = append(pool, out[i]...)
	}
	for i := range out {
		if o.ScalePer != option.ScalePerItem {
			out[i] = pool
		}
	}
	return out
}

// storedText returns a value as a column of a dtype stores it, for [loadtest.Texts].
func storedText(v float64, to layout.DType) string {
	switch to {
	case layout.Float32:
		v = float64(float32(v))
	case layout.Float16:
		v = float64(layout.HalfOf(v).Float32())
	}
	return loadtest.FloatText(v)
}

// TestWinsorizeReplacesInfiniteValues winsorizes columns with few infinite values, and refuses one
// in which a quantile is infinite.
func TestWinsorizeReplacesInfiniteValues(t *testing.T) {
	path := loadtest.File(t, "x.csv", "a\n1\n2\ninf\n3\n-inf\n")
	o := option.Options{Sources: []string{path}, Winsorize: winsorizeAt(0.25, 0.75),
		Scale: option.All(option.ScaleMinMax), DType: option.Floats("float64")}
	if got := floatsOf(mustLoad(t, o), "a"); !slices.Equal(got, []float64{0, 0.5, 1, 1, 0}) {
		t.Error(got)
	}
	o.Winsorize = winsorizeAt(0.1, 0.75)
	_, _, err := loadInProcess(t, o)
	loadtest.Refused(t, err, `row 3 (line 4), column "a": +Inf is not finite`, "`clip={\"a\":")
}

// TestWinsorizedIntegersAreExact stores integers as float64, and refuses those from 2^53 on, also
// those of text files in which a later cell might have made the column one of floats.
func TestWinsorizedIntegersAreExact(t *testing.T) {
	small := loadtest.File(t, "x.csv", "n,b\n1,true\n2,false\n3,true\n4,true\n100,true\n")
	l := mustLoad(t, option.Options{Sources: []string{small}, Winsorize: winsorizeAt(0, 0.75)})
	if got := loadtest.Values[float64](l, "n"); !slices.Equal(got, []float64{1, 2, 3, 4, 4}) {
		t.Error(got)
	}
	if c := columnOf(l, "b"); c.DType != layout.Bool || c.Prepared != nil {
		t.Errorf("a column of booleans is %s, %+v", c.DType, c.Prepared)
	}
	many := strings.Repeat("1\n", 1000+1)
	o := option.Options{Sources: []string{
		loadtest.File(t, "x.csv", "n\n9007199254740993\n"+many)},
		Winsorize: winsorizeAt(0, 0.75), Scale: option.All(option.ScaleMinMax)}
	_, _, err := loadInProcess(t, o)
	loadtest.Refused(t, err, `row 1 (line 2), column "n": the integer near 9007199254740992 is `+
		`not between -2^53 and 2^53, the range of winsorize`, `leave column "n" out of winsorize,`)
	path := filepath.Join(t.TempDir(), "x.arrows")
	for _, kind := range []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64} {
		writeIntegerStream(t, path, kind, 0, []integerRow{{0, 1, []string{"2"}},
			{0, 2, []string{""}}, {0, 3, []string{"4611686018427387905"}}})
		o.Sources = []string{path}
		_, _, err = loadInProcess(t, o)
		loadtest.Refused(t, err, `row 3, column "v": the integer near 4611686018427387904`, "")
	}
	// A late decimal makes the column one of floats.
	o.Sources = []string{loadtest.File(t, "x.csv", "n\n9007199254740993\n"+many+"0.5\n")}
	o.Scale = option.PerColumn[string]{}
	if got := loadtest.Values[float64](mustLoad(t, o), "n"); got[0] != 1 {
		t.Error(got[0])
	}
}

// TestAppendKeepsTheBoundsOfWinsorize appends values beyond the bounds, and a new item, which has
// bounds of its own if they are fitted per item.
func TestAppendKeepsTheBoundsOfWinsorize(t *testing.T) {
	for per, want := range map[string][]float64{
		option.ScalePerColumn: {2, 4, 2, 5, 7, 7, 7, 7, 7, 7},
		option.ScalePerItem:   {2, 3, 2, 3, 10, 20, 20, 7, 9, 9},
	} {
		for _, layoutName := range []string{layout.Columns, layout.Packed} {
			old := mustLoad(t, option.Options{
				ItemID: []string{"i"}, Time: "t", ScalePer: per, Layout: layoutName,
				Winsorize: winsorizeAt(0, 0.5), Sources: []string{loadtest.File(t, "a.csv",
					"i,t,a\n1,1,2\n1,2,4\n2,1,10\n2,2,30\n")},
			})
			l := mustAppend(t, old, loadtest.File(t, "b.csv",
				"i,t,a\n2,3,1000\n3,1,7\n3,2,9000\n3,3,9\n1,5,-50\n1,6,5\n"))
			if got := loadtest.Values[float64](l, "a"); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %v, want %v", per, layoutName, got, want)
			}
			was, is := columnOf(old, "a").Prepared.Winsorize, columnOf(l, "a").Prepared.Winsorize
			n := len(was.Low)
			if !slices.Equal(is.Low[:n], was.Low) || !slices.Equal(is.High[:n], was.High) {
				t.Errorf("%s, %s: bounds %+v, want %+v", per, layoutName, is, was)
			}
			if per == option.ScalePerItem &&
				(len(is.Low) != 3 || is.Low[2] != 7 || is.High[2] != 9) {
				t.Errorf("%s: the new item has bounds %+v", layoutName, is)
			}
		}
	}
}

// TestWinsorizeNeedsValuesInTheFitRows refuses an item with values outside the fit rows only. An
// item without any value has no bounds.
func TestWinsorizeNeedsValuesInTheFitRows(t *testing.T) {
	o := option.Options{ItemID: []string{"i"}, Winsorize: winsorizeAt(0.25, 0.75),
		ScalePer: option.ScalePerItem, FitRows: fitRows(0, 2),
		Sources: []string{loadtest.File(t, "a.csv", "i,a\nx,1.5\nx,2\ny,\ny,\ny,3\n")}}
	_, _, err := loadInProcess(t, o)
	loadtest.Refused(t, err, `column "a": the fit rows of item "y" hold no value to fit on`,
		"choose other rows to fit on")
	o.Sources = []string{loadtest.File(t, "a.csv", "i,a\nx,1.5\nx,2.5\ny,\ny,\n")}
	l := mustLoad(t, o)
	w := columnOf(l, "a").Prepared.Winsorize
	if w.Low[0] != 1.75 || w.High[0] != 2.25 || w.Low[1] == w.Low[1] || w.High[1] == w.High[1] {
		t.Errorf("%+v", w)
	}
	l = mustAppend(t, l, loadtest.File(t, "b.csv", "i,a\ny,70\nx,70\n"))
	if got := floatsOf(l, "a"); got[2] != 2.25 || got[5] != 70 {
		t.Errorf("got %v, want 70 in an item without bounds only", got)
	}
}

// TestWinsorizeAfterDifferences compares with a computation by hand. Appended rows continue the
// differences.
func TestWinsorizeAfterDifferences(t *testing.T) {
	o := option.Options{Time: "t", Fill: option.All(option.Fill{How: option.FillForward}),
		Diff: option.All(true), Winsorize: winsorizeAt(0, 0.5), DType: option.Floats("float64"),
		Sources: []string{loadtest.File(t, "a.csv", "t,a\n1,1\n2,\n3,3\n4,13\n")}}
	l := mustAppend(t, mustLoad(t, o), loadtest.File(t, "b.csv", "t,a\n5,14\n6,214\n"))
	got := floatsOf(l, "a")
	if !slices.Equal(got[1:], []float64{0, 2, 2, 1, 2}) || got[0] == got[0] {
		t.Errorf("got %v", got)
	}
	if p := columnOf(l, "a").Prepared; p.First[0] != 1 || p.Last[0] != 214 {
		t.Errorf("first value %v, last value %v", p.First, p.Last)
	}
}
