package sampler

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestAppendedImagesEqualSingleOnes compares append with at, also for ranges that wrap around.
func TestAppendedImagesEqualSingleOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.Uint64Range(1, 40), rapid.Uint64Range(1, 1<<40)).Draw(t, "n")
		p := newPermutation(rapid.Uint64().Draw(t, "key"), n)
		first := rapid.Uint64Range(0, 2*n).Draw(t, "first")
		if rapid.Bool().Draw(t, "end") {
			first = n - min(n, rapid.Uint64Range(0, 9).Draw(t, "before"))
		}
		count := rapid.Uint64Range(0, 50).Draw(t, "count")
		want := []int64{-7}
		for i := range count {
			want = append(want, int64(p.at((first+i)%n)))
		}
		if got := p.append([]int64{-7}, first, count); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}
