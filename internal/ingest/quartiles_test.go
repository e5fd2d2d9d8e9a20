package ingest

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestCountedRanksAreThoseOfASort(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, 1, math.Copysign(0, -1), -1, math.Inf(1), math.Inf(-1)})), 1, 60).Draw(r, "values")
		ranks := newRanks(int64(len(values)))
		shown := append(slices.Clone(values), math.NaN())
		for pass := range radixPasses {
			ranks.count(shown[:len(shown)/2], pass)
			ranks.count(shown[len(shown)/2:], pass)
			ranks.narrow(pass)
		}
		slices.Sort(values)
		for _, w := range ranks.wanted {
			if got := ranks.value(w.rank); got != values[w.rank] {
				r.Fatalf("rank %d is %v, want %v", w.rank, got, values[w.rank])
			}
		}
	})
}
