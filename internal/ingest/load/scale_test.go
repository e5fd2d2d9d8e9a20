package load

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// naiveFit returns the shift and scale of a fit. NaN is ignored.
func naiveFit(kind string, values []float64) (shift, scale float64) {
	values = slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return v != v })
	if len(values) == 0 {
		return 0, 1
	}
	slices.Sort(values)
	least, top := values[0], values[len(values)-1]
	quantile := func(share float64) float64 { // as numpy.percentile
		place := share * float64(len(values)-1)
		below := int(place)
		above := min(below+1, len(values)-1)
		return values[below] + (values[above]-values[below])*(place-float64(below))
	}
	switch {
	case kind == "maxabs":
		scale = max(-least, top)
	case kind == "robust":
		shift, scale = quantile(0.5), quantile(0.75)-quantile(0.25)
	case kind == "minmax" || least == top:
		shift, scale = least, top-least
	default:
		for _, v := range values {
			shift += v / float64(len(values))
		}
		for _, v := range values {
			scale += (v - shift) * (v - shift) / float64(len(values))
		}
		scale = math.Sqrt(scale)
	}
	if scale == 0 {
		scale = 1
	}
	return shift, scale
}

func TestScaledColumnsEqualANaiveComputation(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var series [][]float64
		for range rapid.IntRange(1, 4).Draw(r, "items") {
			base := rapid.SampledFrom([]float64{0, 1e9, -3}).Draw(r, "base")
			s := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-100, 100), rapid.Just(math.NaN()),
				rapid.Just(7.0)), 2, 40).Draw(r, "values")
			s[0], s[len(s)-1] = 1, 2 // values for fits that use the first or the last rows
			for i := range s {
				s[i] += base
			}
			series = append(series, s)
		}
		var b strings.Builder
		b.WriteString("i,a,n\n")
		for i, s := range series {
			for k, v := range s {
				fmt.Fprintf(&b, "%d,%v,%d\n", i, v, 3*k)
			}
		}
		kind := rapid.SampledFrom([]string{"standard", "minmax", "robust", "maxabs"}).
			Draw(r, "scale")
		o := option.Options{
			Sources: []string{loadtest.File(t, "x.csv", b.String())}, ItemID: []string{"i"},
			Scale:    option.All(kind),
			ScalePer: rapid.SampledFrom([]string{"", "column", "item"}).Draw(r, "per"),
			DType: option.Floats(rapid.SampledFrom([]string{"", "float32", "float64"}).Draw(r,
				"dtype")), Layout: rapid.SampledFrom(
				[]string{layout.Columns, layout.Packed}).Draw(r, "layout"),
			FitRows: rapid.SampledFrom([]*[2]*int64{nil, fitRows(0, 5), fitRows(-4, 1000),
				{nil, fitRows(0, 1)[1]}}).Draw(r, "fit"),
		}
		l := mustLoad(t, o)
		defer l.Close()
		c, _ := l.Manifest.Column("a")
		if want := layout.DType("float32"); c.DType != want && o.DType.Floats != "float64" ||
			c.Scale == nil {
			r.Fatalf("stored as %s, scale %v", c.DType, c.Scale)
		}
		var pool []float64
		for _, s := range series {
			pool = append(pool, fittedValues(o, s)...)
		}
		got := floatsOf(l, "a")
		for i, s := range series {
			shift, scale := naiveFit(kind, pool)
			at := 0
			if o.ScalePer == "item" {
				shift, scale = naiveFit(kind, fittedValues(o, s))
				at = i
			}
			if !nearlyEqual(c.Scale.Shift[at], shift, 1e-12) ||
				!nearlyEqual(c.Scale.Scale[at], scale, 1e-6) {
				r.Fatalf("item %d: shift %v, scale %v, want %v and %v", i, c.Scale.Shift[at],
					c.Scale.Scale[at], shift, scale)
			}
			for k, v := range s {
				want := (v - c.Scale.Shift[at]) / c.Scale.Scale[at]
				if c.DType == layout.Float32 {
					want = float64(float32(want))
				}
				if got[0] != want && (got[0] == got[0] || want == want) {
					r.Fatalf("item %d, row %d: %v, want %v", i, k, got[0], want)
				}
				got = got[1:]
			}
		}
		if n, _ := l.Manifest.Column("n"); n.Scale == nil || !n.DType.IsFloat() {
			r.Fatalf("an integer column is %s, scale %v", n.DType, n.Scale)
		}
	})
}

// fittedValues returns the values of an item in the fit rows, which follow the rules of slices in
// Python.
func fittedValues(o option.Options, s []float64) []float64 {
	from, to := 0, len(s)
	cut := func(bound *int64, open int) int {
		switch {
		case bound == nil:
			return open
		case *bound < 0:
			return max(0, len(s)+int(*bound))
		}
		return min(len(s), int(*bound))
	}
	if o.FitRows != nil {
		from, to = cut(o.FitRows[0], 0), cut(o.FitRows[1], len(s))
	}
	return s[from:max(from, to)]
}

// nearlyEqual reports whether a and b differ by at most eps, relative to the largest of 1, |a| and
// |b|.
func nearlyEqual(a, b, eps float64) bool {
	return math.Abs(a-b) <= eps*max(1, math.Abs(a), math.Abs(b))
}

// floatsOf returns the values of a float32 or float64 column.
func floatsOf(l loadtest.Loaded, name string) []float64 {
	c, _ := l.Manifest.Column(name)
	if c.DType == layout.Float64 {
		return loadtest.Values[float64](l, name)
	}
	var out []float64
	for _, v := range loadtest.Values[float32](l, name) {
		out = append(out, float64(v))
	}
	return out
}

// TestRowsOutsideTheFitMayBeInfinite scales and clips a column with an infinite value that is not
// in the fit rows, or that clip replaces before the fit.
func TestRowsOutsideTheFitMayBeInfinite(t *testing.T) {
	path := loadtest.File(t, "x.csv", "a\n1\n3\ninf\n")
	for _, o := range []option.Options{{FitRows: fitRows(0, 2)},
		{Clip: option.All(option.Clip{HasHigh: true, High: 3}), FitRows: fitRows(0, 2)},
		{Clip: option.All(option.Clip{HasHigh: true, High: 3})}} {
		o.Sources, o.Scale = []string{path}, option.All(option.ScaleMinMax)
		want := math.Inf(1)
		if !o.Clip.IsZero() {
			want = 1
		}
		if got := loadtest.Values[float32](mustLoad(t, o), "a"); got[0] != 0 || got[1] != 1 ||
			float64(got[2]) != want {
			t.Errorf("%v, want 0, 1 and %v", got, want)
		}
	}
}

func TestConstantColumnsAreShiftedOnly(t *testing.T) {
	l := mustLoad(t,
		option.Options{Sources: []string{loadtest.File(t, "x.csv", "a\n0.1\n0.1\n0.1\n")},
			Scale: option.All("standard")})
	if got := loadtest.Values[float32](l, "a"); got[0] != 0 || got[2] != 0 {
		t.Errorf("%v, want zeros", got)
	}
}
