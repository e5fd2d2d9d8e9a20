package column

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
	"github.com/tensorcache/tensorcache/layout"
)

// TestIntegersThatFloatsCannotRepresentAreFound compares firstInexactIn with conversions to a float
// and back.
func TestIntegersThatFloatsCannotRepresentAreFound(t *testing.T) {
	represents := map[layout.DType]func(v int64) bool{
		layout.Float64: func(v int64) bool { f := float64(v); return f < 1<<63 && int64(f) == v },
		layout.Float32: func(v int64) bool { f := float32(v); return f < 1<<63 && int64(f) == v },
		layout.Float16: func(v int64) bool {
			return math.Abs(float64(v)) < 65520 && int64(layout.HalfOf(float64(v)).Float32()) == v
		},
	}
	rapid.Check(t, func(r *rapid.T) {
		v := rapid.Int64().Draw(r, "v") >> rapid.IntRange(0, 63).Draw(r, "smaller")
		if rapid.Bool().Draw(r, "near a power of two") {
			v = int64(1)<<rapid.IntRange(0, 62).Draw(r, "power") + rapid.Int64Range(-2, 2).
				Draw(r, "offset")
		}
		for d, represents := range represents {
			if got := firstInexactIn(d, []int64{0, v}) < 0; got != represents(v) {
				r.Fatalf("%s represents int64 %d: %v", d, v, got)
			}
			if v >= 0 && (firstInexactIn(d, []uint64{0, uint64(v)}) < 0) != represents(v) {
				r.Fatalf("%s represents uint64 %d: %v", d, v, !represents(v))
			}
		}
	})
	for _, v := range []int64{math.MinInt64, math.MaxInt64} {
		if got := firstInexactIn(layout.Float64, []int64{v}) < 0; got != (v < 0) {
			t.Errorf("float64 represents int64 %d: %v", v, got)
		}
	}
	if firstInexactIn(layout.Float64, []uint64{math.MaxUint64}) < 0 ||
		firstInexactIn(layout.Float64, []uint64{1 << 63}) >= 0 {
		t.Error("float64 must represent uint64 2^63 and not 2^64-1")
	}
}

func TestOverflowsEqualThoseOfTheConversion(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		values := rapid.SliceOf(rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{
			65520, -65519.999, math.MaxFloat32, 0x1.ffffffp127, -0x1.fffffefffffffp127, math.Inf(1),
			math.Inf(-1), math.NaN(), 0,
		}))).Draw(r, "values")
		for _, d := range []layout.DType{layout.Float16, layout.Float32, layout.Float64} {
			want := -1
			for i, v := range values {
				if want < 0 && !math.IsInf(v, 0) && math.IsInf(narrowedTo(d, v), 0) {
					want = i
				}
			}
			if got := Overflows(d, values); got != want {
				r.Fatalf("%s: %d, want %d", d, got, want)
			}
		}
	})
}
