package step

import (
	"context"
	"math"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/moments"
	"github.com/tensorcache/tensorcache/layout"
)

// quartileShares are the quantiles that [option.ScaleRobust] is fitted to.
var quartileShares = []float64{0.25, 0.5, 0.75}

// scale subtracts a shift and divides by a scale, as scikit-learn's StandardScaler, MinMaxScaler,
// MaxAbsScaler and RobustScaler.
type scale struct {
	kind   string // option.ScaleStandard and so on
	run    *columnRun
	fitted *layout.Scale // nil if the generation that rows are appended to has none

	known   moments.Moments // of the scaled values; zero if they were not measured
	scaling moments.Scaling // of the series
}

func newScale(r *columnRun, s option.Setting) Step {
	return &scale{kind: string(s.(option.Scale)), run: r}
}

// fit finds shift and scale of the fit rows.
func (s *scale) fit(ctx context.Context, before []Step) error {
	var old [][]float64
	if c := s.run.old; c != nil && c.Scale != nil {
		old = [][]float64{c.Scale.Shift, c.Scale.Scale}
	}
	fitted, err := s.run.fitted(old, func() ([][]float64, error) {
		shifts, scales, err := s.fitScale(ctx, before)
		return [][]float64{shifts, scales}, err
	})
	if err != nil {
		return err
	}
	if fitted != nil {
		s.fitted = &layout.Scale{Kind: s.kind, Per: s.run.Per, Shift: fitted[0], Scale: fitted[1]}
	}
	if s.run.seen != nil && len(active(before)) == 0 {
		s.known = *s.run.seen
	}
	return nil
}

// fitScale returns the shift and the scale of each fit.
func (s *scale) fitScale(ctx context.Context, before []Step) (shifts, scales []float64, err error) {
	fits, err := s.run.fitMoments(ctx, before)
	if err != nil {
		return nil, nil, err
	}
	shifts, scales = make([]float64, len(fits)), make([]float64, len(fits))
	var quartiles [][]quantile
	if s.kind == option.ScaleRobust {
		quartiles, err = s.run.quantiles(ctx, before, fits, quartileShares...)
		if err != nil {
			return nil, nil, err
		}
	}
	for slot, m := range fits {
		shift, scale := shiftAndScale(m, s.kind)
		if quartiles != nil && m.N > 0 {
			q := quartiles[slot]
			shift, scale = q[1].linear(), q[2].linear()-q[0].linear()
			if scale == 0 {
				scale = 1
			}
		}
		if !s.run.isFit(m, slot, shift, scale) {
			return nil, nil, s.run.noFitError(ctx, before, m, slot, "bound the column, as with "+
				loaderr.ColumnOption("clip", s.run.Column.Name, []int{-1e6, 1e6}))
		}
		shifts[slot], scales[slot] = shift, scale
	}
	return shifts, scales, nil
}

func (s *scale) isIdle() bool { return s.fitted == nil }

func (s *scale) begin(of series) {
	if s.fitted != nil {
		s.scaling = moments.NewScaling(s.fitted.Shift[of.slot], s.fitted.Scale[of.slot], s.known)
	}
}

// resume unscales by the generation's fit, since there may be no other yet.
func (s *scale) resume(of series, last float64) float64 {
	old := s.run.old.Scale
	if old == nil {
		return last
	}
	slot := of.feature
	if old.Per == option.ScalePerItem {
		slot += int(s.run.Base.Of[of.item]) * s.run.width
	}
	return last*old.Scale[slot] + old.Shift[slot]
}

func (s *scale) apply(to, from []float64, _ int64) error {
	moments.Scale(to, from, s.scaling)
	return nil
}

func (s *scale) record(r *Result) { r.Scale = s.fitted }

func describeScale(c *layout.ManifestColumn) string {
	if c.Scale == nil {
		return ""
	}
	return c.Scale.Kind + " per " + c.Scale.Per
}

// joinScale adds the fits of new items.
func joinScale(j *join) {
	s := j.old.Scale
	if j.result.Scale = s; s != nil && s.Per == option.ScalePerItem {
		j.result.Scale = &layout.Scale{
			Kind: s.Kind, Per: s.Per,
			Shift: j.extended(s.Shift, j.added.Scale.Shift),
			Scale: j.extended(s.Scale, j.added.Scale.Scale),
		}
	}
}

// shiftAndScale returns the shift and scale of values with these moments, as scikit-learn's
// StandardScaler, MinMaxScaler and MaxAbsScaler. The scale of equal values is 1. It is NaN if
// float64 has lost the squares of their deviations.
func shiftAndScale(m moments.Moments, kind string) (shift, scale float64) {
	if kind == option.ScaleMaxAbs {
		if scale = max(-m.Least, m.Greatest); m.N == 0 || scale == 0 {
			scale = 1
		}
		return 0, scale
	}
	switch {
	case m.N == 0:
		return 0, 1
	case m.Least == m.Greatest:
		return m.Least, 1
	case kind == option.ScaleMinMax:
		return m.Least, m.Greatest - m.Least
	case areTooClose(m):
		return m.Mean, math.NaN()
	}
	return m.Mean, m.Std()
}
