package step

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/moments"
	"github.com/tensorcache/tensorcache/layout"
)

// fitMeans finds what fill mean fills with.
func fitMeans[S float32 | float64](ctx context.Context, p *preparation, from layout.Strided[S]) error {
	fits, err := fitMoments(ctx, p, option.Steps{}, from)
	if err != nil {
		return err
	}
	means := make([]float64, len(fits))
	for i, m := range fits {
		if means[i] = m.Mean; m.N == 0 {
			means[i] = math.NaN()
		}
		if !p.fits(m, i, int(from.Width), means[i]) {
			return misfitOf(ctx, p, option.Steps{}, from, m, i)
		}
	}
	p.means = means
	return nil
}

// fitScale finds shift and scale.
func fitScale[S float32 | float64](ctx context.Context, p *preparation, from layout.Strided[S]) error {
	before := p.Steps
	before.Scale = ""
	fits, err := fitMoments(ctx, p, before, from)
	if err != nil {
		return err
	}
	out := &layout.Scale{Kind: p.Steps.Scale, Per: p.Per, Shift: make([]float64, len(fits)), Scale: make([]float64, len(fits))}
	var middles [][3]float64
	if p.Steps.Scale == option.ScaleRobust {
		if middles, err = quartiles(ctx, p, before, from, fits); err != nil {
			return err
		}
	}
	for i, m := range fits {
		out.Shift[i], out.Scale[i] = shiftAndScale(m, p.Steps.Scale)
		if middles != nil && m.N > 0 {
			out.Shift[i], out.Scale[i] = middles[i][1], middles[i][2]-middles[i][0]
			if out.Scale[i] == 0 {
				out.Scale[i] = 1
			}
		}
		if !p.fits(m, i, int(from.Width), out.Shift[i], out.Scale[i]) {
			return misfitOf(ctx, p, before, from, m, i)
		}
	}
	p.scale = out
	return nil
}

// fitMoments measures the values that the fit sees: one per feature, or item and feature. Rows that hold nothing to fit on, though
// others do, are refused.
func fitMoments[S float32 | float64](ctx context.Context, p *preparation, s option.Steps, from layout.Strided[S]) ([]moments.Moments, error) {
	if p.seen != nil && p.fitsAll() && p.needed(s) == (option.Steps{}) && p.seen.N > 0 {
		return []moments.Moments{*p.seen}, nil
	}
	width := int(from.Width)
	if width == 1 && from.Contiguous() && p.fitsAll() && p.needed(s) == (option.Steps{}) {
		p.seen = &moments.Moments{}
		err := eachTile(ctx, p.Tiles, from, func(_, _ int64, tile moments.Moments) { *p.seen = p.seen.Join(tile) })
		return []moments.Moments{*p.seen}, err
	}
	n := width
	if p.Per == option.ScalePerItem {
		n *= len(p.Offsets) - 1
	}
	out := make([]moments.Moments, n)
	err := each(ctx, p, s, from, p.Fit.high, func(item, feature int, values []float64, row int64) error {
		moments.See(&out[p.slot(item, feature, width)], p.Fit.keep(item, values, row))
		return nil
	})
	if err != nil || !slices.ContainsFunc(out, func(m moments.Moments) bool { return m.N == 0 }) {
		return out, err
	}
	return out, each(ctx, p, s, from, p.Offsets[1:], func(item, feature int, values []float64, _ int64) error {
		if out[p.slot(item, feature, width)].N == 0 && !p.knows(item) && slices.ContainsFunc(values, func(v float64) bool { return v == v }) {
			return p.unfit(item, "the fit rows%s hold no value to fit on", "choose other rows to fit on: --fit-rows, --fit-before or --fit-fraction")
		}
		return nil
	})
}

// fits reports whether numbers of a fit can be used: values that are too large, or not finite, give none.
func (p *preparation) fits(m moments.Moments, place, width int, numbers ...float64) bool {
	if p.Per == option.ScalePerItem && p.knows(place/width) {
		return true // it has a fit already
	}
	return !slices.ContainsFunc(numbers, func(v float64) bool { return math.IsInf(v, 0) || m.N > 0 && v != v })
}

// tooClose reports whether squares of deviations are so small that float64 has lost digits of their sum, or all of it.
func tooClose(m moments.Moments) bool {
	const least = 0x1p-970
	return m.Least != m.Greatest && m.M2 < least
}

// misfitOf refuses values after some steps that give no fit: the first that is not finite with its row, else all by their bounds.
func misfitOf[S float32 | float64](ctx context.Context, p *preparation, s option.Steps, from layout.Strided[S], m moments.Moments, place int) error {
	width := int(from.Width)
	err := each(ctx, p, s, from, p.Fit.high, func(item, feature int, values []float64, row int64) error {
		for i, v := range values {
			if math.IsInf(v, 0) && p.slot(item, feature, width) == place && p.Fit.sees(item, row+int64(i)) {
				e := p.Place(row + int64(i))
				e.Column, e.Reason, e.Hint = p.Column.Name, fmt.Sprintf("%v is not finite, nothing can be fitted to it", v), "choose other rows to fit on, or leave the column out with --columns"
				if p.Steps.Fill.How != option.FillMean {
					e.Hint = fmt.Sprintf("bound the column with --clip %s=-1e6:1e6 or the like", p.Column.Name)
				}
				return &e
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	far := "far apart"
	if tooClose(m) {
		far = "close to each other"
	}
	return p.unfit(place/width, "values%s from "+fmt.Sprintf("%g to %g", m.Least, m.Greatest)+" are too "+far+" to be fitted to", "leave the column out with --columns")
}

// unfit is the error of a fit; %s in the reason is where the item's name goes.
func (p *preparation) unfit(item int, reason, hint string) error {
	of := ""
	if p.Per == option.ScalePerItem && len(p.Keys.Columns) > 0 {
		of = " of item " + p.Keys.ItemName(p.Offsets[item])
	}
	return &loaderr.SourceError{Path: p.Path, Column: p.Column.Name, Reason: fmt.Sprintf(reason, of), Hint: hint}
}

// shiftAndScale are what moments make of a scaling, as scikit-learn's StandardScaler, MinMaxScaler and MaxAbsScaler. A spread of 0 scales by 1; one
// that float64 cannot square is NaN.
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
	case tooClose(m):
		return m.Mean, math.NaN()
	}
	return m.Mean, m.Std()
}
