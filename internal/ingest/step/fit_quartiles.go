package step

import (
	"context"
	"errors"

	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/moments"
)

// quartiles returns the 25th, 50th and 75th percentile of the fit rows after some steps, for each
// fit. fits are the moments of these values. A percentile between two values is linear, as in numpy
// and in scikit-learn's RobustScaler. It is exact, in bounded memory; see [ranks].
func (r *columnRun) quartiles(ctx context.Context, before []Step,
	fits []moments.Moments) ([][3]float64, error) {
	together := r.width // searches in the same pass: a row has values of all of them
	if r.Per == option.ScalePerItem {
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
				return nil, errors.New("values changed while the quartiles were found")
			}
		}
	}
	out := make([][3]float64, len(fits))
	for i, search := range searches {
		if search != nil {
			out[i] = quartilesOf(search.n, func(rank int64) float64 { return search.found[rank] })
		}
	}
	return out, nil
}

// quartilesOf returns the quartiles of n values, linear between the values of neighbouring ranks.
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

// quartileRank returns the rank at or below a quartile of n values, and the share of the way to the
// next rank, 0 to 1.
func quartileRank(n int64, quartile int) (below int64, share float64) {
	quarters := (n - 1) * int64(quartile+1)
	return quarters / 4, float64(quarters%4) / 4
}

// quartileRanks returns the ranks that the quartiles of n values lie between.
func quartileRanks(n int64) []int64 {
	var out []int64
	for q := range 3 {
		below, _ := quartileRank(n, q)
		out = append(out, below, min(below+1, n-1))
	}
	return out
}
