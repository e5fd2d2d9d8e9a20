package jsonl

import (
	"fmt"
	"strconv"
	"unsafe"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/source/lines"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/layout"
)

// kindNames are the names of kinds in messages.
var kindNames = [...]string{
	"null", "a boolean", "a number", "a number", "text", "an array", "an object",
}

// widen returns c with a type that can hold v and the values before it. bad is not nil if no type
// can. Null stands for absent values too.
func widen(c column.Column, v value, role layout.Role) (wider column.Column, bad *fault) {
	switch {
	case v.kind == null:
		return widenMissing(c, role)
	case v.kind >= array:
		return c, refused(v, "is "+kindNames[v.kind]+", want a number, a boolean, text or null",
			"write its values with keys of their own, or leave the key out with `columns`")
	case role == layout.RoleItemID && v.kind == text && len(v.raw) == 0:
		return c, &fault{reason: "is an empty text, but an item needs a name",
			hint: loaderr.HintDropRows}
	case !c.Inferred: // all values are texts
		return c, nil
	case role == layout.RoleItemID:
		return widenItem(c, v)
	case role == layout.RoleTime:
		return widenTime(c, v)
	}
	return widenValue(c, v)
}

// refused returns the fault of a value.
func refused(v value, reason, hint string) *fault {
	return quoted(append(v.raw[:len(v.raw):len(v.raw)], 0), 0, len(v.raw), reason, hint)
}

// widenMissing widens the type of a column for a missing value, as a text file's empty cell does.
func widenMissing(c column.Column, role layout.Role) (column.Column, *fault) {
	hint := loaderr.HintDropRows
	switch {
	case role == layout.RoleItemID:
		return c, &fault{reason: source.ReasonItem, hint: hint}
	case role == layout.RoleTime:
		return c, &fault{reason: source.ReasonNoTime, hint: hint}
	case c.Kind == column.KindUnknown:
		c.Missing = true
	case c.Kind == column.KindInt64:
		c.Kind = column.KindFloat64
	case c.Kind == column.KindBool && !c.Nullable:
		return c, &fault{reason: source.ReasonMissing, hint: source.HintMissingBool(c)}
	}
	return c, nil
}

// widenItem widens the type of an item column.
func widenItem(c column.Column, v value) (column.Column, *fault) {
	as := column.KindText
	if v.kind == integer {
		if _, ok := textvalue.ParseInt(v.raw); ok {
			as = column.KindInt64
		}
	}
	switch {
	case v.kind != text && as == column.KindText:
		return c, refused(v, "is not an item: want an integer of 64 bits or text", hintText(c))
	case c.Kind != column.KindUnknown && c.Kind != as:
		return c, refused(v, mixed(v, c), hintText(c))
	}
	c.Kind = as
	return c, nil
}

// widenTime widens the type of a time column.
func widenTime(c column.Column, v value) (column.Column, *fault) {
	const hint = `write times like "2016-07-01T00:00:00Z", or all as integers`
	if v.kind == integer && c.Kind != column.KindTime {
		if _, ok := textvalue.ParseInt(v.raw); ok {
			c.Kind = column.KindInt64
			return c, nil
		}
	}
	if v.kind != text || c.Kind == column.KindInt64 {
		if c.Kind == column.KindInt64 || c.Kind == column.KindTime {
			return c, refused(v, mixed(v, c), hint)
		}
		return c, refused(v, "is not a time", hint)
	}
	t, ok := timeOf(v)
	if !ok {
		return c, refused(v, "is not a time in an unambiguous format", hint)
	}
	w, ok := lines.WidenTime(c, t)
	if !ok {
		return c, refused(v, "and the times before it: some have a time zone and some do not",
			"write a zone in every time or in none")
	}
	return w, nil
}

// timeOf parses a text of the time column.
func timeOf(v value) (textvalue.Time, bool) {
	b, _, ok := v.decoded(nil)
	if !ok {
		return textvalue.Time{}, false
	}
	return textvalue.ParseTimeCell(b)
}

// widenValue widens the type of a value column.
func widenValue(c column.Column, v value) (column.Column, *fault) {
	as := column.KindFloat64
	switch v.kind {
	case boolean:
		as = column.KindBool
	case text:
		as = column.KindText
	case integer:
		if _, ok := textvalue.ParseInt(v.raw); ok {
			as = column.KindInt64
		}
	}
	if as == column.KindFloat64 {
		if _, ok := floatOf(v); !ok {
			return c, refused(v, "is beyond the range of float64", hintText(c))
		}
	}
	other := c
	other.Kind = as
	w, ok := column.Widest(c, other)
	if !ok {
		return c, refused(v, mixed(v, c), hintMixed(v, c))
	}
	w.Name = c.Name
	return w, nil
}

// floatOf returns the float64 that is nearest to a number. ok is false if it is infinite.
func floatOf(v value) (x float64, ok bool) {
	x, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(v.raw), len(v.raw)), 64)
	return x, err == nil
}

// mixed returns the reason for a value of another type than the column.
func mixed(v value, c column.Column) string {
	above := c.Kind.String()
	switch c.Kind {
	case column.KindInt64, column.KindFloat64:
		above = "numbers"
	case column.KindBool:
		above = "booleans"
	case column.KindTime:
		above = "times in text"
	}
	return fmt.Sprintf("is %s, but the values above it are %s", kindNames[v.kind], above)
}

// hintMixed returns the hint for a value of another type than the column.
func hintMixed(v value, c column.Column) string {
	if v.kind == boolean || c.Kind == column.KindBool {
		return "write booleans as 0 and 1 if they are numbers, or leave the key out with `columns`"
	}
	return "write null for a missing value, or " + hintText(c)
}

// hintText returns the hint to load a column as text.
func hintText(c column.Column) string {
	return "load all its values as text with " + loaderr.ColumnOption("dtype", c.OptionName(), "text")
}
