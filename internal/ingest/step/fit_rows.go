package step

import (
	"math"
	"math/rand/v2"
	"sort"

	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/rows"
)

// FitRows are the rows that steps are fitted to: rows low[i] to high[i]-1 of each item i, or a
// sample of them.
type FitRows struct {
	low, high []int64
	sampled   []uint64 // a bit per row of the result; nil without a sample
}

// NewFitRows returns the fit rows that the options select. offsets are the first row of each item,
// and the number of rows.
func NewFitRows(o option.Options, k *rows.Keys, offsets []int64) (*FitRows, error) {
	n := len(offsets) - 1
	f := &FitRows{low: make([]int64, n), high: make([]int64, n)}
	before, err := fitBefore(o, k)
	if err != nil {
		return nil, err
	}
	for i := range n {
		first, end := offsets[i], offsets[i+1]
		f.low[i], f.high[i] = rowsOf(o.FitRows, first, end)
		if o.FitFraction != nil {
			f.high[i] = min(f.high[i],
				first+int64(math.Floor(float64(end-first)**o.FitFraction+1e-9)))
		}
		if before != nil {
			earlier := sort.Search(int(end-first), func(j int) bool {
				return k.Time.Data[(first+int64(j))*k.Time.Step] >= *before
			})
			f.high[i] = min(f.high[i], first+int64(earlier))
		}
		f.high[i] = max(f.low[i], f.high[i])
	}
	if o.FitSample > 0 {
		f.sampled = make([]uint64, (offsets[n]+63)/64)
		f.draw(o.FitSample, o.FitSeed, o.ScalePer == option.ScalePerItem)
	}
	return f, nil
}

// FitRowsOf returns the rows low[i] to high[i]-1 of each item i. They count all rows.
func FitRowsOf(low, high []int64) *FitRows { return &FitRows{low: low, high: high} }

// rowsOf returns the rows of an item, from first to end-1, that fit_rows selects.
func rowsOf(r *[2]*int64, first, end int64) (int64, int64) {
	bound := func(b *int64, open int64) int64 {
		switch {
		case b == nil:
			return open
		case *b < 0:
			return max(first, end+*b)
		}
		return first + min(end-first, *b)
	}
	if r == nil {
		return first, end
	}
	a, b := bound(r[0], first), bound(r[1], end)
	return a, max(a, b)
}

// fitBefore returns fit_before in the time column's unit, nil if it is not given.
func fitBefore(o option.Options, k *rows.Keys) (*int64, error) {
	t, err := option.ReadTime("fit_before", o.FitBefore)
	if t == nil || err != nil {
		return nil, err
	}
	before, err := option.TimeBound(k.Clock, "fit_before", *t)
	return &before, err
}

// draw samples n of the fit rows, or n of each item. Every set of n is equally likely (Knuth, The
// Art of Computer Programming, algorithm 3.4.2S).
func (f *FitRows) draw(n, seed int64, perItem bool) {
	random := rand.New(rand.NewPCG(uint64(seed), 0x66697473))
	var left int64
	for i := range f.low {
		left += f.high[i] - f.low[i]
	}
	want := n
	for i := range f.low {
		if perItem {
			left, want = f.high[i]-f.low[i], n
		}
		for row := f.low[i]; row < f.high[i]; row++ {
			if want >= left || random.Int64N(left) < want {
				f.sampled[row/64] |= 1 << (row % 64)
				want--
			}
			left--
		}
	}
}

// restrict returns the part of an item's values from a row on that is in the fit rows. It sets
// values that the sample leaves out to NaN.
func (f *FitRows) restrict(item int, values []float64, row int64) []float64 {
	from, to := max(f.low[item]-row, 0), min(f.high[item]-row, int64(len(values)))
	if from >= to {
		return nil
	}
	values, row = values[from:to], row+from
	if f.sampled != nil {
		for i := range values {
			if !f.has(item, row+int64(i)) {
				values[i] = math.NaN()
			}
		}
	}
	return values
}

// has reports whether a row of an item is one of the fit rows.
func (f *FitRows) has(item int, row int64) bool {
	return row >= f.low[item] && row < f.high[item] &&
		(f.sampled == nil || f.sampled[row/64]&(1<<(row%64)) != 0)
}

// all reports whether the fit rows are all rows.
func (f *FitRows) all(offsets []int64) bool {
	for i := range f.low {
		if f.low[i] != offsets[i] || f.high[i] != offsets[i+1] {
			return false
		}
	}
	return f.sampled == nil
}

// Per returns what a fit is for, as the manifest has it: option.ScalePerColumn or
// option.ScalePerItem.
func Per(o option.Options) string {
	if o.ScalePer == option.ScalePerItem {
		return option.ScalePerItem
	}
	return option.ScalePerColumn
}
