package ingest

import (
	"fmt"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/layout"
)

// kind is what the values of a source's column are.
type kind uint8

const (
	kindUnknown kind = iota // no cell seen but missing ones
	kindBool
	kindInt8
	kindInt16
	kindInt32
	kindUint8
	kindUint16
	kindUint32
	kindUint64
	kindInt64
	kindFloat16
	kindFloat32
	kindFloat64
	kindTime
	kindDuration
	kindText
)

var kindNames = [...]string{
	"null", "bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64", "int64", "float16", "float32", "float64", "timestamp", "duration", "text",
}

func (k kind) String() string { return kindNames[k] }

// dtype is what a kind is stored as where no option says otherwise.
func (k kind) dtype() layout.DType {
	if k == kindUnknown {
		return layout.Float64
	}
	return layout.DType(kindNames[k])
}

func (k kind) isInteger() bool { return kindInt8 <= k && k <= kindInt64 }

func (k kind) isFloat() bool { return kindFloat16 <= k && k <= kindFloat64 }

// kindOf is the kind of a dtype's name.
func kindOf(name string) (k kind, ok bool) {
	i := slices.Index(kindNames[1:], name)
	return kind(i + 1), i >= 0
}

// column is one column of a source.
type column struct {
	name       string
	kind       kind
	unit, zone string // of a time or a duration
	width      int64  // features of a row, 0 for a plain column
	source     string // dtype as the source calls it, where the kind does not say it
	inferred   bool   // the kind comes from the cells and may have to give way to others
	names      bool   // integers are names too, and give way to texts
	missing    bool   // a missing cell was seen while the kind was unknown
}

func (c column) describe() string {
	s := c.kind.String()
	if c.unit != "" {
		s += "[" + c.unit
		if c.zone != "" {
			s += ", " + c.zone
		}
		s += "]"
	}
	if c.width > 0 {
		s += fmt.Sprintf("[%d]", c.width)
	}
	return s
}

// want is a column that the load needs: its place in the source, and what for.
type want struct {
	index int
	role  layout.Role
	text  bool // its cells are texts, whatever they look like
}

// usable refuses a column that cannot have its role.
func (c column) usable(path string, role layout.Role) error {
	var reason, hint string
	switch {
	case role == layout.RoleItemID && (!c.kind.isInteger() && c.kind != kindText || c.width > 0):
		reason, hint = fmt.Sprintf("an item_id column holds integers or text, not %s", c.describe()), "name another column with --item-id, or convert it before"
	case role == layout.RoleTime && (!c.kind.isInteger() && c.kind != kindTime || c.width > 0):
		reason, hint = fmt.Sprintf("a time column holds timestamps, dates or integers, not %s", c.describe()), "name another column with --time, or convert it before"
	default:
		return nil
	}
	return &loaderr.SourceError{Path: path, Column: c.name, Reason: reason, Hint: hint}
}

// unify is the column that can hold the values of two sources.
func unify(a, b column) (column, error) {
	if a.inferred && b.inferred {
		if c, ok := widest(a, b); ok {
			return c, nil
		}
	} else if a.kind == b.kind && a.unit == b.unit && a.zone == b.zone && a.width == b.width && a.source == b.source {
		return a, nil
	}
	return a, fmt.Errorf("is %s here but %s in", b.describe(), a.describe())
}

// ofOneSort gives the wider of two columns of typed files that are both floats or both integers: values of either become what a dtype
// asks for, or are refused one by one.
func ofOneSort(a, b column) (wider column, ok bool) {
	if a.inferred || b.inferred || a.width != b.width || !(a.kind.isFloat() && b.kind.isFloat() || a.kind.isInteger() && b.kind.isInteger()) {
		return a, false
	}
	if b.kind.dtype().Size() > a.kind.dtype().Size() {
		return b, true
	}
	return a, true
}

// widest is the kind of inferred columns that holds both.
func widest(a, b column) (column, bool) {
	if a.kind > b.kind {
		a, b = b, a
	}
	switch {
	case a.kind == kindUnknown:
		if a.missing && b.kind == kindInt64 {
			b.kind = kindFloat64
		}
		return b, true
	case a.kind == kindInt64 && b.kind == kindFloat64:
		return b, true
	case a.kind == kindInt64 && b.kind == kindText:
		return b, a.names
	case a.kind == kindTime && b.kind == kindTime:
		if textvalue.UnitDigits(a.unit) > textvalue.UnitDigits(b.unit) {
			a, b = b, a
		}
		return b, a.zone == b.zone
	}
	return b, a.kind == b.kind
}

// gatheredRows is how many values are gathered before they are written.
const gatheredRows = 32 << 10

// timeText is a time as a message shows it.
func (c column) timeText(v int64) string {
	if c.kind != kindTime {
		return fmt.Sprint(v)
	}
	return textvalue.TimeText(v, c.unit)
}

// tileRows is how many values are looked up or converted before they are written.
const tileRows = 4096

// number tells whether a column holds numbers: truth values, times and texts are none.
func (c column) number() bool {
	return c.kind == kindUnknown || c.kind.isInteger() || c.kind.isFloat()
}

// truths tells whether a column holds truth values that may be missing. Those of text files may not: their cells are read as what they are.
func (c column) truths() bool { return c.kind == kindBool && !c.inferred }

// sourceName is what the source calls the type of a column.
func (c column) sourceName() string {
	if c.source != "" {
		return c.source
	}
	if c.kind == kindUnknown {
		return kindFloat64.String()
	}
	return c.kind.String()
}
