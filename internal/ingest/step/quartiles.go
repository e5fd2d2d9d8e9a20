package step

import (
	"context"
	"errors"

	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/moments"
	"github.com/tensorcache/tensorcache/layout"
)

// quartiles are the 25th, 50th and 75th percentiles of what the fit sees, between neighbours on the line as numpy's and
// scikit-learn's RobustScaler: exactly, in little memory (see [ranks]).
func quartiles[S float32 | float64](ctx context.Context, p *preparation, s option.Steps, from layout.Strided[S], fits []moments.Moments) ([][3]float64, error) {
	width := int(from.Width)
	together := width // fits that are shown their values at the same time
	if p.Per == option.ScalePerItem {
		together = 1
	}
	left := 0
	searches := make([]*ranks, len(fits))
	for i, m := range fits {
		if m.N > 0 {
			left++
			searches[i] = newRanks(m.N, quartileRanks(m.N), together)
		}
	}
	inside := make([]float64, TileRows)
	for left > 0 {
		err := each(ctx, p, s, from, p.Fit.high, func(item, feature int, values []float64, row int64) error {
			r := searches[p.slot(item, feature, width)]
			if r == nil || r.done() {
				return nil
			}
			if r.see(p.Fit.keep(item, values, row), inside); r.seen == r.n {
				if r.narrow(); r.done() {
					left--
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, r := range searches {
			if r != nil && r.seen > 0 {
				return nil, errors.New("values changed while the quartiles were found")
			}
		}
	}
	out := make([][3]float64, len(fits))
	for i, r := range searches {
		if r != nil {
			out[i] = quartilesOf(r.n, func(rank int64) float64 { return r.found[rank] })
		}
	}
	return out, nil
}

// quartilesOf interpolates between the values of neighbouring ranks.
func quartilesOf(n int64, value func(rank int64) float64) (q [3]float64) {
	for i := range q {
		below, share := quartileRank(n, i)
		a, b := value(below), value(min(below+1, n-1))
		if q[i] = a; share > 0 && a != b {
			q[i] = a + (b-a)*share
		}
	}
	return q
}

// quartileRank is the rank at or below a quartile of n values, and how far that lies from it to the next.
func quartileRank(n int64, quartile int) (below int64, share float64) {
	quarters := (n - 1) * int64(quartile+1)
	return quarters / 4, float64(quarters%4) / 4
}

// quartileRanks are the ranks that the quartiles of n values lie between.
func quartileRanks(n int64) []int64 {
	var out []int64
	for q := range 3 {
		below, _ := quartileRank(n, q)
		out = append(out, below, min(below+1, n-1))
	}
	return out
}
