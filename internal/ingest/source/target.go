package source

import (
	"cmp"
	"fmt"
	"math"
	"sync/atomic"
	"unicode/utf8"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// CheckText returns an error if a text is not UTF-8, or is empty in an item_id column. row counts
// from 0.
func CheckText(word []byte, role layout.Role, row int64) error {
	switch {
	case len(word) == 0 && role == layout.RoleItemID:
		return &loaderr.SourceError{
			Row: row + 1, Reason: "the text is empty, but an item needs a name",
			Hint: loaderr.HintDropRows,
		}
	case !utf8.Valid(word):
		return &loaderr.SourceError{
			Row: row + 1, Text: string(word), Reason: ReasonUTF8,
			Hint: "only UTF-8 text can be loaded; leave the column out with `columns`",
		}
	}
	return nil
}

// ReasonItem is the reason if a value is missing in an item_id column.
const ReasonItem = "is missing, but an item needs a name"

// ReasonNoTime is the reason if a value is missing in the time column.
const ReasonNoTime = "is missing, but every row needs a time"

// ReasonMissing is the reason if a value is missing in a column whose type has no missing values.
const ReasonMissing = "is missing, but only float columns have missing values"

// HintMissingBool returns the hint for a missing boolean in a text file.
func HintMissingBool(c column.Column) string {
	hint := fmt.Sprintf(
		"fill booleans with 0, 1, forward or backward, as with %s; or store numbers with %s",
		loaderr.ColumnOption("fill", c.OptionName(), 0),
		loaderr.ColumnOption("dtype", c.OptionName(), "float32"))
	if c.Cells {
		hint += "; or " + column.HintText(c)
	}
	return hint
}

// ReasonUTF8 is the reason if a text is not UTF-8.
const ReasonUTF8 = "is not UTF-8"

// RangeError returns the error for a value that [column.Write] or [column.CheckCells] refuses. row
// counts from 1.
func (t Target) RangeError(row int64, value any) *loaderr.SourceError {
	why := t.Column.Refuse(t.Dest, value)
	e := &loaderr.SourceError{
		Column: t.Name, Row: row, Text: why.Text, Reason: why.Reason, Hint: why.Hint,
	}
	switch {
	case (t.Kind == column.KindTime || t.Kind == column.KindDuration) &&
		value == int64(math.MinInt64):
		e.Text, e.Reason, e.Hint = "NaT", "is not a time", loaderr.HintDropRows
	case t.Kind == column.KindBool:
		e.Reason, e.Hint = "is not a boolean, want 0 or 1",
			"write the column as integers, or leave it out with `columns`"
	case e.Text == "NaN":
		return t.MissingError(row)
	case t.Role == layout.RoleValue || t.Decimal && e.Hint != column.HintWider:
	case t.Decimal && t.Role == layout.RoleItemID:
		e.Hint = "convert the decimals to text before the load"
	case t.Decimal:
		e.Hint = "convert the decimals to timestamps before the load"
	default:
		e.Hint = loaderr.HintDropRows
	}
	return e
}

// Target is a column of a source and its destination.
type Target struct {
	column.Want
	column.Column
	Dest     column.Sink
	Row0     int64              // row of Dest to which the source's first row is written
	Words    *column.Dictionary // of a text column
	Observer column.Observer    // receives the values as they are read; nil or ignored is fine
	Capitals *atomic.Bool       // becomes true if a boolean is TRUE or FALSE; nil is fine
}

// OptionName returns the name that options have for the column.
func (t Target) OptionName() string { return cmp.Or(t.Want.As, t.Name) }

// MissingReason returns the reason why the column cannot have a missing value.
func (t Target) MissingReason() string {
	switch t.Role {
	case layout.RoleItemID:
		return ReasonItem
	case layout.RoleTime:
		return ReasonNoTime
	}
	return ReasonMissing
}

// MissingError returns the error for a missing value in a column that cannot have one, with a hint.
// row counts from 1.
func (t Target) MissingError(row int64) *loaderr.SourceError {
	e := &loaderr.SourceError{Column: t.Name, Row: row, Reason: "the value " + t.MissingReason()}
	switch {
	case t.Role != layout.RoleValue:
		e.Hint = loaderr.HintDropRows
	case t.IsNumber() || t.IsBool():
		e.Hint = "fill the missing values with " + loaderr.ColumnOption("fill", t.OptionName(), 0) +
			"; store floats with " + loaderr.ColumnOption("dtype", t.OptionName(), "float64") +
			"; or leave the column out with `columns`"
	default:
		e.Hint = "leave the column out with `columns`"
	}
	return e
}
