package source

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// CheckText refuses words that are no names of items. Rows count from 0 here.
func CheckText(word []byte, role layout.Role, row int64) error {
	switch {
	case len(word) == 0 && role == layout.RoleItemID:
		return &loaderr.SourceError{Row: row + 1, Reason: "the text is empty, but an item needs a name", Hint: loaderr.HintNeeded}
	case !utf8.Valid(word):
		return &loaderr.SourceError{Row: row + 1, Text: string(word), Reason: ReasonUTF8, Hint: "bytes are read where they are text; leave the column out with --columns"}
	}
	return nil
}

const ReasonItem = "is missing, but an item needs a name"

const ReasonNoTime = "is missing, but every row needs a time"

const ReasonMissing = "is missing, which only a float column can say"

const ReasonUTF8 = "is not UTF-8"

// RangeError refuses a value of a row, from 1, that the column is not stored with: put or checkCells have found it.
func (t Target) RangeError(row int64, value any) *loaderr.SourceError {
	if h, ok := value.(layout.Half); ok {
		value = h.Float32()
	}
	e := &loaderr.SourceError{Column: t.Name, Row: row, Text: fmt.Sprint(value), Reason: "does not fit " + string(t.Dest.DType), Hint: column.HintWider}
	switch {
	case (t.Kind == column.KindTime || t.Kind == column.KindDuration) && value == int64(math.MinInt64):
		e.Text, e.Reason, e.Hint = "NaT", "is no time", loaderr.HintNeeded
	case t.Kind == column.KindBool:
		e.Reason, e.Hint = "is no truth value, want 0 or 1", "write the column as integers, or leave it out with --columns"
	case e.Text == "NaN":
		return t.MissingError(row)
	case t.Role != layout.RoleValue:
		e.Hint = loaderr.HintNeeded
	}
	return e
}

// Target is a column of a source and where its values go.
type Target struct {
	column.Want
	column.Column
	Dest     column.Sink
	Row0     int64 // the source's first row in dest
	Words    *column.Dictionary
	Observer column.Observer // nil unless somebody sees the values as they are read
}

// MissingReason says why a missing value cannot be in the column.
func (t Target) MissingReason() string {
	switch t.Role {
	case layout.RoleItemID:
		return ReasonItem
	case layout.RoleTime:
		return ReasonNoTime
	}
	return ReasonMissing
}

// MissingError refuses a missing value of a row, from 1, and says what to do about it.
func (t Target) MissingError(row int64) *loaderr.SourceError {
	e := &loaderr.SourceError{Column: t.Name, Row: row, Reason: "the value " + t.MissingReason()}
	switch {
	case t.Role != layout.RoleValue:
		e.Hint = loaderr.HintNeeded
	case t.IsNumber() || t.IsBool():
		e.Hint = "fill what is missing with --fill " + t.Name + "=0, or leave the column out with --columns"
	default:
		e.Hint = "leave the column out with --columns"
	}
	return e
}

// WidenError tells that columns hold what their kind cannot; the load begins again with these, in the order of the targets.
type WidenError struct{ Columns []column.Column }

func (*WidenError) Error() string { return "columns must be widened" }

// Merge is what must be widened for both.
func (e *WidenError) Merge(other *WidenError) *WidenError {
	if e == nil {
		return other
	}
	for i, c := range other.Columns {
		if w, ok := column.Widest(e.Columns[i], c); ok {
			e.Columns[i] = w
		}
	}
	return e
}
