package step

import (
	mathbits "math/bits"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
)

func TestSamplesAreDrawnFromTheFitRows(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := &FitRows{}
		var row, all int64
		for range rapid.IntRange(1, 5).Draw(r, "items") {
			low := row + rapid.Int64Range(0, 5).Draw(r, "before")
			high := low + rapid.Int64Range(0, 90).Draw(r, "rows")
			f.low, f.high, row, all = append(f.low, low), append(f.high, high), high+2, all+high-low
		}
		f.sampled = make([]uint64, row/64+1)
		n, perItem := rapid.Int64Range(1, 100).Draw(r, "n"), rapid.Bool().Draw(r, "per item")
		f.draw(n, rapid.Int64().Draw(r, "seed"), perItem)
		total, inside := 0, int64(0)
		for _, word := range f.sampled {
			total += mathbits.OnesCount64(word)
		}
		for i := range f.low {
			own := int64(0)
			for at := f.low[i]; at < f.high[i]; at++ {
				own += int64(f.sampled[at/64] >> (at % 64) & 1)
			}
			if want := min(n, f.high[i]-f.low[i]); perItem && own != want {
				r.Fatalf("item %d: %d rows, want %d", i, own, want)
			}
			inside += own
		}
		if inside != int64(total) || !perItem && inside != min(n, all) {
			r.Fatalf("%d rows, %d of them fit rows; want %d of %d", total, inside, n, all)
		}
	})
}

func TestSampledRowsAreEquallyLikely(t *testing.T) {
	var hits [8]int
	for seed := range int64(4000) {
		f := &FitRows{low: []int64{0}, high: []int64{8}, sampled: make([]uint64, 1)}
		f.draw(2, seed, false)
		for row := range hits {
			hits[row] += int(f.sampled[0] >> row & 1)
		}
	}
	// 1,000 are expected, with a standard deviation of 27.
	for row, n := range hits {
		if n < 850 || n > 1150 {
			t.Errorf("row %d was drawn %d times of 4000, want about 1000", row, n)
		}
	}
}

func TestFitRowsFollowPythonSlices(t *testing.T) {
	p := func(v int64) *int64 { return &v }
	fit := func(a, b int64) *[2]*int64 { return &[2]*int64{&a, &b} }
	for _, c := range []struct {
		rows         *[2]*int64
		begin, until int64
	}{
		{nil, 100, 110}, {fit(0, 5), 100, 105}, {fit(2, 50), 102, 110}, {fit(-3, -1), 107, 109},
		{fit(-50, 4), 100, 104},
		{&[2]*int64{nil, p(-2)}, 100, 108}, {&[2]*int64{p(3), nil}, 103, 110},
		{fit(20, 30), 110, 110}, {fit(8, -5), 108, 108},
	} {
		if a, b := rowsOf(c.rows, 100, 110); a != c.begin || b != c.until {
			t.Errorf("%d to %d, want %d to %d", a, b, c.begin, c.until)
		}
	}
}
