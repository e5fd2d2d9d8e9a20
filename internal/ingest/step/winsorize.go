package step

import (
	"context"
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// winsorize clips values at two quantiles of the fit rows.
type winsorize struct {
	stepDefaults
	option.Winsorize
	run    *columnRun
	fitted *layout.Winsorize // nil if the generation that rows are appended to has none
	bounds clip              // of the series
}

func newWinsorize(r *columnRun, s option.Setting) Step {
	return &winsorize{Winsorize: s.(option.Winsorize), run: r}
}

// fit finds the quantiles of the fit rows.
func (w *winsorize) fit(ctx context.Context, before []Step) error {
	var old [][]float64
	if c := w.run.old; c != nil && c.Prepared != nil && c.Prepared.Winsorize != nil {
		old = [][]float64{c.Prepared.Winsorize.Low, c.Prepared.Winsorize.High}
	}
	fitted, err := w.run.fitted(old, func() ([][]float64, error) {
		lows, highs, err := w.fitBounds(ctx, before)
		return [][]float64{lows, highs}, err
	})
	if err == nil && fitted != nil {
		w.fitted = &layout.Winsorize{Quantiles: [2]float64{w.Low, w.High}, Per: w.run.Per,
			Low: fitted[0], High: fitted[1]}
	}
	return err
}

// fitBounds returns the bounds of each fit, NaN for a fit without values.
func (w *winsorize) fitBounds(ctx context.Context, before []Step) (lows, highs []float64,
	err error) {
	fits, err := w.run.fitMoments(ctx, before)
	if err != nil {
		return nil, nil, err
	}
	quantiles, err := w.run.quantiles(ctx, before, fits, w.Low, w.High)
	if err != nil {
		return nil, nil, err
	}
	lows, highs = make([]float64, len(fits)), make([]float64, len(fits))
	for slot, m := range fits {
		low, high := column.NaN, column.NaN
		if q := quantiles[slot]; q != nil {
			low, high = interpolate(q[0]), interpolate(q[1])
		}
		if !w.run.isFit(m, slot, low, high) {
			return nil, nil, w.run.noFitError(ctx, before, m, slot,
				"choose quantiles farther from 0 and 1, or bound the column with "+
					loaderr.ColumnOption("clip", w.run.Column.Name, []int{-1e6, 1e6}))
		}
		lows[slot], highs[slot] = low, high
	}
	return lows, highs, nil
}

// interpolate returns the quantile that numpy's method linear computes, to the last bit. That of
// [quantile.linear] may differ in this bit; scale robust keeps it, so that equal loads of earlier
// versions have equal fits.
func interpolate(q quantile) float64 {
	// The conversions keep the compiler from fusing a product with a sum; numpy rounds both.
	switch difference := q.above - q.below; {
	case q.fraction == 0 || q.below == q.above:
		return q.below
	case q.fraction < 0.5:
		return q.below + float64(difference*q.fraction)
	default:
		return q.above - float64(difference*(1-q.fraction))
	}
}

func (w *winsorize) isIdle() bool { return w.fitted == nil }

func (w *winsorize) begin(s series) {
	if w.fitted != nil {
		w.bounds.Clip = option.Clip{Low: w.fitted.Low[s.slot], High: w.fitted.High[s.slot],
			HasLow: true, HasHigh: true}
	}
}

func (w *winsorize) apply(to, from []float64, row int64) error {
	return w.bounds.apply(to, from, row)
}

func (w *winsorize) record(r *Result) { r.prepared().Winsorize = w.fitted }

func describeWinsorize(c *layout.ManifestColumn) string {
	if c.Prepared == nil || c.Prepared.Winsorize == nil {
		return ""
	}
	w := c.Prepared.Winsorize
	return fmt.Sprintf("winsorize %v:%v per %s", w.Quantiles[0], w.Quantiles[1], w.Per)
}

// joinWinsorize adds the bounds of new items.
func joinWinsorize(j *join) {
	if j.old.Prepared == nil || j.old.Prepared.Winsorize == nil {
		return
	}
	if both := *j.old.Prepared.Winsorize; both.Per == option.ScalePerItem {
		added := j.added.Prepared.Winsorize
		both.Low, both.High = j.extended(both.Low, added.Low), j.extended(both.High, added.High)
		j.result.Prepared.Winsorize = &both
	}
}
