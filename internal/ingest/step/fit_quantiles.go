package step

import (
	"context"
	"errors"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/moments"
)

// quantile is the value at a fraction of the way from one value to the next higher one.
type quantile struct{ below, above, fraction float64 }

// linear returns the quantile on the line between the two values.
func (q quantile) linear() float64 {
	if q.fraction > 0 && q.below != q.above {
		return q.below + (q.above-q.below)*q.fraction
	}
	return q.below
}

// quantiles returns the quantiles of the fit rows after some steps, for each fit, in the order of
// shares, which are from 0 to 1. fits are the moments of these values. The quantiles of a fit
// without values are nil. The neighbours are exact, found in bounded memory; see [ranks].
func (r *columnRun) quantiles(ctx context.Context, before []Step, fits []moments.Moments,
	shares ...float64) ([][]quantile, error) {
	together := r.width // searches in the same pass: a row has values of all of them
	if r.Per == option.ScalePerItem {
		together = 1
	}
	left := 0
	searches := make([]*ranks, len(fits))
	for i, m := range fits {
		if m.N > 0 {
			left++
			searches[i] = newRanks(m.N, quantileRanks(m.N, shares), together)
		}
	}
	inside := make([]float64, TileRows)
	for left > 0 {
		err := r.each(ctx, pass{steps: before, until: r.Fit.high},
			func(s series, values []float64, row int64) error {
				search := searches[s.slot]
				if search == nil || search.done() {
					return nil
				}
				if search.add(r.Fit.restrict(s.item, values, row),
					inside); search.seen == search.n {
					if search.narrow(); search.done() {
						left--
					}
				}
				return nil
			})
		if err != nil {
			return nil, err
		}
		for _, search := range searches {
			if search != nil && search.seen > 0 {
				return nil, errors.New("values changed while the quantiles were found")
			}
		}
	}
	out := make([][]quantile, len(fits))
	for i, search := range searches {
		if search != nil {
			out[i] = quantilesOf(search.n, shares, search.found)
		}
	}
	return out, nil
}

// quantilesOf returns the quantiles of n values. found has the values of their ranks.
func quantilesOf(n int64, shares []float64, found map[int64]float64) []quantile {
	out := make([]quantile, len(shares))
	for i, share := range shares {
		below, fraction := quantileRank(n, share)
		out[i] = quantile{found[below], found[min(below+1, n-1)], fraction}
	}
	return out
}

// quantileRank returns the rank at or below a quantile of n values, and the fraction of the way to
// the next rank, as numpy's method linear.
func quantileRank(n int64, share float64) (below int64, fraction float64) {
	at := share * float64(n-1)
	below = int64(at)
	return below, at - float64(below)
}

// quantileRanks returns the ranks that quantiles of n values lie between, ascending.
func quantileRanks(n int64, shares []float64) []int64 {
	var out []int64
	for _, share := range shares {
		below, _ := quantileRank(n, share)
		out = append(out, below, min(below+1, n-1))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
