package step

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// write applies all steps and stores the results.
func (r *columnRun) write(ctx context.Context, to layout.ColumnWriter) error {
	results := resultsTo(to)
	p := pass{steps: r.steps, until: r.Offsets[1:], destination: results.destination}
	err := r.each(ctx, p, func(s series, values []float64, row int64) error {
		bad := column.Overflows(to.DType, values)
		if bad < 0 && r.Integers {
			bad = column.FirstRounded(to.DType, values)
		}
		if bad < 0 {
			bad = results.store(s.feature, row, values)
		}
		if bad >= 0 {
			return r.doesNotFit(row+int64(bad), values[bad], to.DType)
		}
		if r.Loss != nil && to.DType != layout.Float64 { // which loses nothing
			column.MeasureResults(r.Loss, to.DType, values)
		}
		return nil
	})
	to.Close()
	return err
}

// doesNotFit returns the error for a result outside the dtype of its column.
func (r *columnRun) doesNotFit(row int64, v float64, to layout.DType) error {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	switch {
	case v != v:
		reason, hint := r.whyMissing()
		return r.refuse(row, reason, hint)
	case isInteger(v):
		return r.refuse(row, fmt.Sprintf("%s after the steps does not fit %s", text, to),
			column.HintWider)
	case to.IsFloat():
		text = strconv.FormatFloat(v, 'g', -1, 64)
		return r.refuse(row, fmt.Sprintf("%s after the steps does not fit %s", text, to),
			column.HintWider)
	}
	return r.refuse(row,
		fmt.Sprintf(
			"%s does not fit %s, or is beyond the whole numbers up to 2^53 that steps keep exactly",
			text, to),
		"leave the column's steps out")
}

// whyMissing returns why a result may be missing, by the last step that knows, and what to do.
func (r *columnRun) whyMissing() (reason, hint string) {
	for i := len(r.steps) - 1; i >= 0; i-- {
		if s, ok := r.steps[i].(interface{ whyMissing() (reason, hint string) }); ok {
			return s.whyMissing()
		}
	}
	return "the value is missing, but only float columns have missing values", "fill it with " +
		loaderr.ColumnOption("fill", r.Column.Name, 0)
}

// isInteger reports whether a value is an integer that float64 represents exactly.
func isInteger(v float64) bool { return v == math.Trunc(v) && math.Abs(v) < column.ExactIntegers }
