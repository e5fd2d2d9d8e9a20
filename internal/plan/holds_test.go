package plan

import (
	"math"
	"testing"

	"github.com/tensorcache/tensorcache/layout"
)

func TestHolds(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		dtype   layout.DType
		in, out []float64
	}{
		{layout.Float16, []float64{-1, 65519, nan}, []float64{65520, inf}},
		{layout.Float32, []float64{0.1, nan}, []float64{1e39, -inf}},
		{layout.Float64, []float64{-1e300, nan}, []float64{inf}},
		{layout.Int8, []float64{-128, 127}, []float64{-129, 128, 0.5, nan, inf}},
		{layout.Int64, []float64{-1 << 63, 1 << 62}, []float64{1 << 63, nan}},
		{layout.Uint8, []float64{0, 255}, []float64{-1, 256}},
		{layout.Uint64, []float64{1 << 63}, []float64{math.Ldexp(1, 64), -1}},
		{layout.Bool, []float64{0, 1}, []float64{2, -1, nan}},
		{layout.Text, []float64{-1, 7}, []float64{1 << 31, 0.5}},
		{layout.Duration, []float64{-7}, []float64{nan}},
	} {
		for i, v := range append(c.in, c.out...) {
			if got := holds(c.dtype, v); got != (i < len(c.in)) {
				t.Errorf("holds(%s, %v) is %t", c.dtype, v, got)
			}
		}
	}
}

func TestIntegersFitNarrowerOnesByTheirValues(t *testing.T) {
	for _, c := range []struct {
		from      layout.DType
		least     float64
		greatest  float64
		fits, not []layout.DType
	}{
		{layout.Int64, -1 << 31, 1<<31 - 1, []layout.DType{layout.Int32}, nil},
		{layout.Int64, -1<<31 - 1, 0, nil, []layout.DType{layout.Int32}},
		{layout.Uint64, 0, 1 << 31, []layout.DType{layout.Int64}, []layout.DType{layout.Int32}},
		{layout.Uint64, 0, 1 << 63, nil, []layout.DType{layout.Int64}},
		{layout.Float32, 1, 2, nil, []layout.DType{layout.Int32}},
		{layout.Duration, 1, 2, []layout.DType{layout.Int32}, nil},
	} {
		column := []*layout.ManifestColumn{{Name: "a", DType: c.from,
			Statistics: &layout.Statistics{Min: &c.least, Max: &c.greatest}}}
		for _, to := range c.fits {
			if err := checkLossless(column, to); err != nil {
				t.Error(err)
			}
		}
		for _, to := range c.not {
			if err := checkLossless(column, to); err == nil {
				t.Errorf("%s from %v to %v fits %s", c.from, c.least, c.greatest, to)
			}
		}
	}
	if checkLossless([]*layout.ManifestColumn{{DType: layout.Int64}}, layout.Int32) == nil {
		t.Error("a column without statistics fits int32")
	}
}
