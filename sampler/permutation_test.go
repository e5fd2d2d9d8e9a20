package sampler

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestPermutationVisitsEachOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 5000).Draw(t, "n")
		p := newPermutation(rapid.Uint64().Draw(t, "key"), n)
		seen := make([]bool, n)
		for i := range n {
			x := p.at(i)
			if x >= n || seen[x] {
				t.Fatalf("%d is visited twice or is outside [0, %d)", x, n)
			}
			seen[x] = true
			if back := p.inverse(x); back != i {
				t.Fatalf("%d is the image of %d, not of %d", x, i, back)
			}
		}
	})
}

func TestEvenSqrt(t *testing.T) {
	for _, a := range []uint64{1, 2, 3, 46341, 94906265, 94906267, 1<<31 - 1, 1 << 31} {
		for _, n := range []uint64{a*a - 1, a * a, a*a + 1} {
			if got := evenSqrt(n); n > 4 && (got%2 == 1 || got*got < n || (got-2)*(got-2) >= n) {
				t.Errorf("evenSqrt(%d) = %d", n, got)
			}
		}
	}
}

// checkChi fails the test if the chi-square statistic of counts is more than 4.5 standard
// deviations from its mean, by the approximation of Wilson and Hilferty. By chance, this happens
// once in 10⁵ tests. Seeds are fixed, so that the result is always the same.
func checkChi(t *testing.T, name string, counts []float64, expected float64) {
	t.Helper()
	chi := 0.0
	for _, c := range counts {
		chi += (c - expected) * (c - expected) / expected
	}
	df := float64(len(counts) - 1)
	z := (math.Cbrt(chi/df) - (1 - 2/(9*df))) / math.Sqrt(2/(9*df))
	t.Logf("%s: chi-square %.0f at %.0f degrees of freedom, z %.2f", name, chi, df, z)
	if math.Abs(z) > 4.5 {
		t.Errorf("%s: chi-square %.0f at %.0f degrees of freedom is %.1f deviations off",
			name, chi, df, z)
	}
}

// TestShufflesOfFewNumbersAreEquallyLikely counts how often each permutation of a few numbers
// occurs.
func TestShufflesOfFewNumbersAreEquallyLikely(t *testing.T) {
	for n, factorial := range map[uint64]int{2: 2, 3: 6, 4: 24, 5: 120, 6: 720, 7: 5040} {
		counts := make([]float64, factorial)
		draws := max(20000, 60*factorial)
		for epoch := range uint64(draws) {
			p := newPermutation(epochKey(1, epoch, forShuffle), n)
			code, left := 0, make([]uint64, 0, n)
			for i := range n {
				left = append(left, i)
			}
			for i := range n {
				x := p.at(i)
				for k, v := range left {
					if v == x {
						code = code*len(left) + k
						left = append(left[:k], left[k+1:]...)
						break
					}
				}
			}
			counts[code]++
		}
		checkChi(t, fmt.Sprintf("n %d", n), counts, float64(draws)/float64(factorial))
	}
}

// TestShuffledTriplesAreUniform counts the joint images of three numbers. They must be uniform,
// also if the network is small.
func TestShuffledTriplesAreUniform(t *testing.T) {
	for _, n := range []uint64{8, 15, 16, 36} {
		const draws = 300000
		counts := make([]float64, n*n*n)
		for epoch := range uint64(draws) {
			p := newPermutation(epochKey(77, epoch, forShuffle), n)
			counts[(p.at(0)*n+p.at(evenSqrt(n)))*n+p.at(1)]++
		}
		var possible []float64
		for k, c := range counts {
			if x, y, z := uint64(k)/n/n, uint64(k)/n%n, uint64(k)%n; x != y && y != z && x != z {
				possible = append(possible, c)
			}
		}
		checkChi(t, fmt.Sprintf("n %d", n), possible, draws/float64(len(possible)))
	}
}

// TestShuffleEntriesAreUniform counts the entries that contain a number, over seeds and over
// epochs.
func TestShuffleEntriesAreUniform(t *testing.T) {
	for _, n := range []uint64{17, 64, 100, 5000, 16989} {
		for _, over := range []string{"seeds", "epochs"} {
			const cells, draws = 64, 20000
			counts := make([]float64, cells)
			for i := range uint64(draws) {
				key := epochKey(i, 0, forShuffle)
				if over == "epochs" {
					key = epochKey(5, i, forShuffle)
				}
				p := newPermutation(key, n)
				counts[p.at(n/3)*cells/n]++
			}
			expect := make([]float64, cells)
			for x := range n {
				expect[x*cells/n] += draws / float64(n)
			}
			var scaled []float64 // cells of unequal size, scaled to the same expectation
			for i, e := range expect {
				if e > 0 {
					scaled = append(scaled, draws/cells+(counts[i]-e)*math.Sqrt(draws/cells/e))
				}
			}
			checkChi(t, fmt.Sprintf("n %d over %s", n, over), scaled, draws/cells)
		}
	}
}

// TestShuffleNeighboursAreIndependent counts the differences of the images of two numbers. They
// must be uniform at distance 1, at distance a (the base of the network's digits) and at the
// distance of a batch.
func TestShuffleNeighboursAreIndependent(t *testing.T) {
	for _, n := range []uint64{100, 5000, 16989, 1 << 20, 1e9} {
		for _, distance := range []uint64{1, 32, evenSqrt(n), evenSqrt(n) + 1} {
			const cells, draws = 50, 100000
			counts := make([]float64, cells)
			var p permutation
			for i := range uint64(draws) {
				// Few pairs per permutation, so that the differences are nearly independent.
				if i%min(1000, n/50) == 0 {
					p = newPermutation(epochKey(i, 3, forShuffle), n)
				}
				x := below(mix(i), n)
				y := (x + distance) % n
				difference := (p.at(x) + n - p.at(y)) % n // 1 … n−1
				counts[(difference-1)*cells/(n-1)]++
			}
			if n == 100 { // 99 differences cannot fill 50 equal cells
				counts = counts[:cells-1]
			}
			sum := 0.0
			for _, c := range counts {
				sum += c
			}
			checkChi(t, fmt.Sprintf("n %d, distance %d", n, distance), counts,
				sum/float64(len(counts)))
		}
	}
}

// TestShuffleSuccessiveImagesAreUncorrelated counts pairs of successive images of one epoch on a
// grid.
func TestShuffleSuccessiveImagesAreUncorrelated(t *testing.T) {
	for _, n := range []uint64{16989, 1e6, 1e9} {
		for seed := range uint64(5) {
			p := newPermutation(epochKey(seed, 0, forShuffle), n)
			const grid, draws = 16, 16000
			counts := make([]float64, grid*grid)
			last := p.at(0)
			for i := range uint64(draws) {
				x := p.at(i + 1)
				counts[last*grid/n*grid+x*grid/n]++
				last = x
			}
			checkChi(t, fmt.Sprintf("n %d, seed %d", n, seed), counts, draws/float64(grid*grid))
		}
	}
}

// TestEpochsAreUnrelated counts the entries that are the same window in two epochs. Random
// permutations have one on average.
func TestEpochsAreUnrelated(t *testing.T) {
	const n, pairs = 1000, 2000
	equal := 0
	for i := range uint64(pairs) {
		p, q := newPermutation(epochKey(9, i, forShuffle), n),
			newPermutation(epochKey(9, i+1, forShuffle), n)
		for x := range uint64(n) {
			if p.at(x) == q.at(x) {
				equal++
			}
		}
	}
	// The count of a pair has a Poisson distribution with mean 1.
	if mean := float64(equal) / pairs; math.Abs(mean-1) > 4.5/math.Sqrt(pairs) {
		t.Errorf("two epochs have %.3f equal entries on average, want 1", mean)
	}
}

func BenchmarkPermutation(b *testing.B) {
	for _, n := range []uint64{1000, 16989, 1e9} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := newPermutation(1, n)
			x := uint64(0)
			for b.Loop() {
				x = p.at(x)
			}
		})
	}
}
