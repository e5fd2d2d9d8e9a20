package ingest

import (
	"fmt"
	"math"

	"github.com/tensorcache/tensorcache/layout"
)

// misfit refuses a value of a row, from 1, that the column is not stored with: put or checkCells have found it.
func (t target) misfit(row int64, value any) *SourceError {
	if h, ok := value.(layout.Half); ok {
		value = h.Float32()
	}
	e := &SourceError{Column: t.name, Row: row, Text: fmt.Sprint(value), Reason: "does not fit " + string(t.dest.DType), Hint: hintWider}
	switch {
	case (t.kind == kindTime || t.kind == kindDuration) && value == int64(math.MinInt64):
		e.Text, e.Reason, e.Hint = "NaT", "is no time", hintNeeded
	case t.kind == kindBool:
		e.Reason, e.Hint = "is no truth value, want 0 or 1", "write the column as integers, or leave it out with --columns"
	case e.Text == "NaN":
		return t.missing(row)
	case t.role != layout.RoleValue:
		e.Hint = hintNeeded
	}
	return e
}
