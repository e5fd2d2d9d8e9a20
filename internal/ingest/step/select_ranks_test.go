package step

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// search adds the values to r, pass after pass, until r has found all ranks. Each pass reverses the
// order of values. It returns the number of passes.
func search(t interface{ Fatalf(string, ...any) }, r *ranks, values []float64,
	shuffle *rand.Rand) (passes int) {
	scratch := make([]float64, TileRows)
	for ; !r.done(); passes++ {
		for rest := values; len(rest) > 0; {
			n := 1 + shuffle.IntN(min(len(rest), TileRows))
			r.add(rest[:n], scratch)
			rest = rest[n:]
		}
		if r.seen != r.n {
			t.Fatalf("%d of %d members were seen", r.seen, r.n)
		}
		for _, b := range r.brackets {
			if cap(b.sample) > 2*r.capacity || b.every == 1 && int64(len(b.sample)) != b.inside {
				t.Fatalf("%d of %d members sampled, 1 of %d, with a capacity of %d", len(b.sample),
					b.inside, b.every, r.capacity)
			}
		}
		if r.narrow(); passes > 100 {
			t.Fatalf("the search is not done after %d passes", passes)
		}
		slices.Reverse(values)
	}
	return passes
}

func TestRanksEqualThoseOfASort(t *testing.T) {
	edges := []float64{
		0, 1, math.Copysign(0, -1), -1, math.Inf(1), math.Inf(-1), math.MaxFloat64,
		math.SmallestNonzeroFloat64,
	}
	rapid.Check(t, func(t *rapid.T) {
		shuffle := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := 1 + shuffle.IntN(rapid.SampledFrom([]int{5, 500, 3000}).Draw(t, "at most"))
		// With few distinct values, many are equal.
		kinds := 1 + shuffle.IntN(rapid.SampledFrom([]int{3, 50, 10000}).Draw(t, "kinds"))
		values := make([]float64, n)
		for i := range values {
			values[i] = math.Round(float64(shuffle.IntN(kinds))) / 7
			if shuffle.IntN(4) == 0 {
				values[i] = edges[shuffle.IntN(len(edges))]
			}
		}
		if rapid.Bool().Draw(t, "sorted") {
			slices.Sort(values)
		}
		want := slices.Clone(values)
		slices.Sort(want)
		wanted := quantileRanks(int64(n), rapid.OneOf(rapid.Just(quartileShares),
			rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 3)).Draw(t, "shares"))
		r := newRanks(int64(n), wanted, 1)
		if r.capacity = 2 * rapid.IntRange(32, 700).Draw(t, "capacity"); n > r.capacity {
			r.brackets = []*bracket{r.bracket(wanted, math.Inf(-1), math.Inf(1))}
		}
		if rapid.Bool().Draw(t, "wrong guess") {
			b := r.brackets[0]
			b.low = edges[shuffle.IntN(4)]
			b.high = b.low + float64(shuffle.IntN(3))
		}
		search(t, r, append(values, math.NaN(), math.NaN()), shuffle)
		for _, rank := range wanted {
			if got, ok := r.found[rank]; !ok || got != want[rank] {
				t.Fatalf("rank %d is %v, want %v", rank, got, want[rank])
			}
		}
	})
}

func TestQuartilesOfManyValuesTakeAtMostThreePasses(t *testing.T) {
	const n = 150_000
	wanted := quantileRanks(n, quartileShares)
	shuffle := rand.New(rand.NewPCG(7, 7))
	for name, value := range map[string]func(i int) float64{
		"normal":   func(int) float64 { return shuffle.NormFloat64() },
		"rising":   func(i int) float64 { return float64(i) },
		"periodic": func(i int) float64 { return math.Sin(float64(i) * 2 * math.Pi / 64) },
		"rounded":  func(int) float64 { return math.Round(10 * shuffle.NormFloat64()) },
		"zeros":    func(int) float64 { return max(0, shuffle.NormFloat64()) },
		"steep":    func(int) float64 { return math.Exp(50 * shuffle.NormFloat64()) },
	} {
		values := make([]float64, n)
		for i := range values {
			values[i] = value(i)
		}
		want := slices.Clone(values)
		slices.Sort(want)
		for _, together := range []int{8, 64} {
			r := newRanks(n, wanted, together)
			if passes := search(t, r, values, shuffle); passes > 3 {
				t.Errorf("%s: %d passes", name, passes)
			}
			for _, rank := range wanted {
				if r.found[rank] != want[rank] {
					t.Errorf("%s: rank %d is %v, want %v", name, rank, r.found[rank], want[rank])
				}
			}
		}
	}
}
