package step

import (
	"context"
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// TileRows is the number of rows of a tile. Moments are computed tile by tile and then joined in
// order, so that fits depend on TileRows and not on timing.
const TileRows = 16 << 10

// series is one feature of one item: the values of rows from first to end-1. Series share only
// fitted parameters.
type series struct {
	item, feature int
	first, end    int64
	place         int // among those of all items and features
	slot          int // of its fit among all fits
}

// pass is one reading of a column.
type pass struct {
	steps []Step  // applied to the values
	until []int64 // by item: rows from this one on may be left out
	// destination returns memory for n values of a row on, which the last step writes; nil for a
	// buffer.
	destination func(row int64, n int) []float64
}

// each calls visit with the values of every series after the steps of a pass, tile by tile; row is
// that of the first value. Values are valid until visit returns. visit may change them if
// destination is given, or if the fit is of a sample.
func (r *columnRun) each(ctx context.Context, p pass,
	visit func(s series, values []float64, row int64) error) error {
	steps := active(p.steps)
	for item := range len(r.Offsets) - 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		for feature := range r.width {
			s := r.series(item, feature)
			for _, step := range p.steps {
				step.begin(s)
			}
			r.resume(s)
			for row := s.first; row < p.until[item]; {
				values, err := r.tile(p, steps, s, row)
				if err != nil {
					return err
				}
				if err := visit(s, values, row); err != nil {
					return err
				}
				row += int64(len(values))
			}
		}
	}
	return nil
}

// series returns a feature of an item.
func (r *columnRun) series(item, feature int) series {
	s := series{
		item: item, feature: feature, first: r.Offsets[item], end: r.Offsets[item+1],
		place: item*r.width + feature, slot: feature,
	}
	if r.Per == option.ScalePerItem {
		s.slot = s.place
	}
	return s
}

// tile returns the values of a series from a row on after the steps. No step reads the source
// before row, and none writes after the tile, so that the results may overwrite the source.
func (r *columnRun) tile(p pass, steps []Step, s series, row int64) ([]float64, error) {
	n := int(min(TileRows, s.end-row))
	to := r.buffer[:n]
	values := r.source.tile(int64(s.feature), row, to)
	if len(r.exact) > 0 {
		if i := column.FirstInexact(values); i >= 0 {
			return nil, r.tooLarge(row+int64(i), values[i])
		}
	}
	for i, step := range steps {
		if i == len(steps)-1 && p.destination != nil {
			to = p.destination(row, n)
		}
		if err := step.apply(to, values, row); err != nil {
			return nil, err
		}
		values = to
	}
	if len(steps) == 0 && (p.destination != nil || r.Fit.sampled != nil) {
		if p.destination != nil {
			to = p.destination(row, n)
		}
		copy(to, values)
		values = to
	}
	return values, nil
}

// active returns those of the steps that may change a value of the column.
func active(steps []Step) []Step {
	var out []Step
	for _, s := range steps {
		if !s.isIdle() {
			out = append(out, s)
		}
	}
	return out
}

// refuse returns the error of a value of the column.
func (r *columnRun) refuse(row int64, reason, hint string) error {
	e := r.Place(row)
	e.Column, e.Reason, e.Hint = r.Column.Name, reason, hint
	return &e
}

// tooLarge refuses an integer that its steps may have rounded.
func (r *columnRun) tooLarge(row int64, v float64) error {
	names := r.exact.Names()
	reason := fmt.Sprintf("the integer near %.0f is not between -2^53 and 2^53, the range of %s",
		v, names)
	return r.refuse(row, reason, fmt.Sprintf(
		"leave column %q out of %s, or store it as floats in the source", r.Column.Name, names))
}
