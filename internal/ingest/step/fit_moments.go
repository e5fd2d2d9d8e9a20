package step

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/moments"
)

// fitMoments returns the moments of the fit rows after some steps, one for each fit: per feature,
// or per item and feature. It refuses a fit without any value, if other rows have some.
func (r *columnRun) fitMoments(ctx context.Context, before []Step) ([]moments.Moments, error) {
	if r.fitsAll() && len(active(before)) == 0 {
		if r.seen != nil && r.seen.N > 0 {
			return []moments.Moments{*r.seen}, nil
		}
		if r.source.isPlain() {
			r.seen = &moments.Moments{}
			err := eachTile(ctx, r.Tiles, r.source, func(_, _ int64, tile moments.Moments) {
				*r.seen = r.seen.Join(tile)
			})
			return []moments.Moments{*r.seen}, err
		}
	}
	fits := r.width
	if r.Per == option.ScalePerItem {
		fits *= len(r.Offsets) - 1
	}
	out := make([]moments.Moments, fits)
	err := r.each(ctx, pass{steps: before, until: r.Fit.high},
		func(s series, values []float64, row int64) error {
			moments.Add(&out[s.slot], r.Fit.restrict(s.item, values, row))
			return nil
		})
	if err != nil || !slices.ContainsFunc(out, func(m moments.Moments) bool { return m.N == 0 }) {
		return out, err
	}
	isPresent := func(v float64) bool { return v == v }
	return out, r.each(ctx, pass{steps: before, until: r.Offsets[1:]},
		func(s series, values []float64, _ int64) error {
			if out[s.slot].N == 0 && !r.continues(s.item) &&
				slices.ContainsFunc(values, isPresent) {
				return r.fitError(s.item, "the fit rows%s hold no value to fit on",
					"choose other rows to fit on: `fit_rows`, `fit_before` or `fit_fraction`")
			}
			return nil
		})
}

// isFit reports whether numbers of a fit can be used. They are infinite or NaN if values are not
// finite, or too large.
func (r *columnRun) isFit(m moments.Moments, slot int, numbers ...float64) bool {
	if r.Per == option.ScalePerItem && r.continues(slot/r.width) {
		return true // its item has a fit already
	}
	return !slices.ContainsFunc(numbers, func(v float64) bool {
		return math.IsInf(v, 0) ||
			m.N > 0 && v != v
	})
}

// areTooClose reports whether the squares of deviations are so small that float64 has lost digits
// of their sum, or all of it.
func areTooClose(m moments.Moments) bool {
	const least = 0x1p-970
	return m.Least != m.Greatest && m.M2 < least
}

// noFitError returns the error for values after some steps that no fit exists for. It names the row
// of the first infinite value, or else the bounds of all values. hint says what to do about an
// infinite value.
func (r *columnRun) noFitError(ctx context.Context, before []Step, m moments.Moments, slot int,
	hint string) error {
	err := r.each(ctx, pass{steps: before, until: r.Fit.high},
		func(s series, values []float64, row int64) error {
			for i, v := range values {
				if at := row + int64(i); math.IsInf(v, 0) && s.slot == slot &&
					r.Fit.has(s.item, at) {
					return r.refuse(at,
						fmt.Sprintf("%v is not finite, nothing can be fitted to it", v),
						hint)
				}
			}
			return nil
		})
	if err != nil {
		return err
	}
	far := "far apart"
	if areTooClose(m) {
		far = "close to each other"
	}
	bounds := fmt.Sprintf("%g to %g", m.Least, m.Greatest)
	return r.fitError(slot/r.width, "values%s from "+bounds+" are too "+far+" to be fitted to",
		"leave the column out with `columns`")
}

// fitError returns an error about the fit of an item. %s in the reason is replaced by the item's
// name.
func (r *columnRun) fitError(item int, reason, hint string) error {
	of := ""
	if r.Per == option.ScalePerItem && len(r.Keys.Columns) > 0 {
		of = " of item " + r.Keys.ItemName(r.Offsets[item])
	}
	return &loaderr.SourceError{Path: r.Path, Column: r.Column.Name,
		Reason: fmt.Sprintf(reason, of), Hint: hint}
}
