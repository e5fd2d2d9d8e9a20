package step

import (
	"context"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/rows"
	"github.com/tensorcache/tensorcache/internal/moments"
	"github.com/tensorcache/tensorcache/layout"
)

// Input is one column, its steps, and what they need of the load.
type Input struct {
	Column   column.Column
	Steps    option.Steps
	Integers bool   // values and results are integers or booleans
	Per      string // what a fit is for: option.ScalePerColumn or option.ScalePerItem

	Keys    *rows.Keys
	Offsets []int64 // the first row of each item, and the number of rows
	Fit     *FitRows
	Place   rows.Locator // returns the source of a row of the result
	Path    string       // the first source, for messages about the whole column
	Base    *Base        // nil unless rows are appended

	// values before the steps; if both are nil, the result has them
	Scratch *layout.ColumnWriter // of float64
	Values  Values
	Result  func(mode layout.Mode) layout.ColumnWriter // opens the column of the result
	// moments of the values, taken while they were read; or nil
	Tiles *TileMoments
	// measures what narrowing loses; nil unless a dtype is asked for
	Loss *column.Loss
}

// columnRun is the state of [Run] for one column.
type columnRun struct {
	Input
	steps  []Step
	exact  option.Steps // those that refuse integers of the column that float64 may have rounded
	source source
	width  int                    // values of a row
	old    *layout.ManifestColumn // of the generation that rows are appended to; nil without
	seen   *moments.Moments       // of all values before the steps; nil if they were not measured
	buffer []float64              // of a tile
}

// Run applies the steps of a column and returns what the manifest records of them. The error is a
// [loaderr.SourceError], that of ctx, or another error if the values change while Run reads them.
func Run(ctx context.Context, in Input) (Result, error) {
	r := &columnRun{Input: in, buffer: make([]float64, TileRows),
		old: in.Base.column(in.Column.Name)}
	if in.Column.Kind.IsInteger() {
		r.exact = in.Steps.Exact()
	}
	from := in.Result(layout.Random)
	mode := layout.ReadRewrite
	switch {
	case (in.Scratch != nil || in.Values != nil) && from.Dense():
		mode = layout.WriteOnce
	case r.readsOnce():
		mode = layout.Rewrite
	}
	to := in.Result(mode) // before values are read: see layout.ReadRewrite
	if mode == layout.WriteOnce {
		to = to.Buffered()
	}
	switch {
	case in.Values != nil:
		r.source = in.Values
	case in.Scratch != nil:
		r.source = strided[float64]{layout.Values[float64](*in.Scratch)}
	case to.DType == layout.Float32:
		r.source = strided[float32]{layout.Values[float32](from)}
	default:
		r.source = strided[float64]{layout.Values[float64](from)}
	}
	_, width := r.source.shape()
	r.width = int(width)
	for _, s := range in.Steps {
		r.steps = append(r.steps, kindOf(s).open(r, s))
	}
	var result Result
	for i, s := range r.steps {
		if err := s.fit(ctx, r.steps[:i]); err != nil {
			return Result{}, err
		}
	}
	if err := r.write(ctx, to); err != nil {
		return Result{}, err
	}
	for _, s := range r.steps {
		s.record(&result)
	}
	return result, nil
}

// readsOnce reports whether nearly all values are read only while the results are written, because
// their moments suffice for the fits. The pages of the result are then made writable piece by
// piece.
func (r *columnRun) readsOnce() bool {
	for _, s := range r.Steps {
		if t := s.Traits(); !t.UsesMoments || t.Searches {
			return false
		}
	}
	return r.fitsAll() && r.Tiles.isNearlyComplete()
}

// fitsAll reports whether there is one fit, to every row.
func (r *columnRun) fitsAll() bool {
	return (r.Per != option.ScalePerItem || len(r.Offsets) == 2) && r.Fit.all(r.Offsets)
}
