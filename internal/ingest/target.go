package ingest

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// checkWord refuses words that are no names of items. Rows count from 0 here.
func checkWord(word []byte, role layout.Role, row int64) error {
	switch {
	case len(word) == 0 && role == layout.RoleItemID:
		return &loaderr.SourceError{Row: row + 1, Reason: "the text is empty, but an item needs a name", Hint: loaderr.HintNeeded}
	case !utf8.Valid(word):
		return &loaderr.SourceError{Row: row + 1, Text: string(word), Reason: reasonUTF8, Hint: "bytes are read where they are text; leave the column out with --columns"}
	}
	return nil
}

const reasonItem = "is missing, but an item needs a name"

const reasonNoTime = "is missing, but every row needs a time"

const reasonMissing = "is missing, which only a float column can say"

const reasonUTF8 = "is not UTF-8"

// misfit refuses a value of a row, from 1, that the column is not stored with: put or checkCells have found it.
func (t target) misfit(row int64, value any) *loaderr.SourceError {
	if h, ok := value.(layout.Half); ok {
		value = h.Float32()
	}
	e := &loaderr.SourceError{Column: t.Name, Row: row, Text: fmt.Sprint(value), Reason: "does not fit " + string(t.dest.DType), Hint: column.HintWider}
	switch {
	case (t.Kind == column.KindTime || t.Kind == column.KindDuration) && value == int64(math.MinInt64):
		e.Text, e.Reason, e.Hint = "NaT", "is no time", loaderr.HintNeeded
	case t.Kind == column.KindBool:
		e.Reason, e.Hint = "is no truth value, want 0 or 1", "write the column as integers, or leave it out with --columns"
	case e.Text == "NaN":
		return t.missing(row)
	case t.Role != layout.RoleValue:
		e.Hint = loaderr.HintNeeded
	}
	return e
}

// target is a column of a source and where its values go.
type target struct {
	column.Want
	column.Column
	dest     column.Sink
	row0     int64 // the source's first row in dest
	dict     *column.Dictionary
	observer observer // nil unless somebody sees the values as they are read
}

// needs says why a missing value cannot be in the column.
func (t target) needs() string {
	switch t.Role {
	case layout.RoleItemID:
		return reasonItem
	case layout.RoleTime:
		return reasonNoTime
	}
	return reasonMissing
}

// missing refuses a missing value of a row, from 1, and says what to do about it.
func (t target) missing(row int64) *loaderr.SourceError {
	e := &loaderr.SourceError{Column: t.Name, Row: row, Reason: "the value " + t.needs()}
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

// widenError tells that columns hold what their kind cannot; the load begins again with these, in the order of the targets.
type widenError struct{ columns []column.Column }

func (*widenError) Error() string { return "columns must be widened" }

// merge is what must be widened for both.
func (e *widenError) merge(other *widenError) *widenError {
	if e == nil {
		return other
	}
	for i, c := range other.columns {
		if w, ok := column.Widest(e.columns[i], c); ok {
			e.columns[i] = w
		}
	}
	return e
}
