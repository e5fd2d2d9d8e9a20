// Package column describes a column of a source (name, type, unit, zone, width) and stores its values:
// conversion between dtypes, dictionaries of texts, missing values, and what narrower floats lose.
//
// A value that its dtype cannot hold is found before it is stored, never rounded in silence.
package column

import (
	"fmt"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/layout"
)

// Kind is what the values of a source's column are.
type Kind uint8

const (
	KindUnknown Kind = iota // no cell seen but missing ones
	KindBool
	KindInt8
	KindInt16
	KindInt32
	KindUint8
	KindUint16
	KindUint32
	KindUint64
	KindInt64
	KindFloat16
	KindFloat32
	KindFloat64
	KindTime
	KindDuration
	KindText
)

var KindNames = [...]string{
	"null", "bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64", "int64", "float16", "float32", "float64", "timestamp", "duration", "text",
}

func (k Kind) String() string { return KindNames[k] }

// DType is what a kind is stored as where no option says otherwise.
func (k Kind) DType() layout.DType {
	if k == KindUnknown {
		return layout.Float64
	}
	return layout.DType(KindNames[k])
}

func (k Kind) IsInteger() bool { return KindInt8 <= k && k <= KindInt64 }

func (k Kind) IsFloat() bool { return KindFloat16 <= k && k <= KindFloat64 }

// KindOf is the kind of a dtype's name.
func KindOf(name string) (k Kind, ok bool) {
	i := slices.Index(KindNames[1:], name)
	return Kind(i + 1), i >= 0
}

// Column is one column of a source.
type Column struct {
	Name       string
	Kind       Kind
	Unit, Zone string // of a time or a duration
	Width      int64  // features of a row, 0 for a plain column
	Source     string // dtype as the source calls it, where the kind does not say it
	Inferred   bool   // the kind comes from the cells and may have to give way to others
	Names      bool   // integers are names too, and give way to texts
	Missing    bool   // a missing cell was seen while the kind was unknown
}

func (c Column) Describe() string {
	s := c.Kind.String()
	if c.Unit != "" {
		s += "[" + c.Unit
		if c.Zone != "" {
			s += ", " + c.Zone
		}
		s += "]"
	}
	if c.Width > 0 {
		s += fmt.Sprintf("[%d]", c.Width)
	}
	return s
}

// Want is a column that the load needs: its place in the source, and what for.
type Want struct {
	Index int
	Role  layout.Role
	Text  bool // its cells are texts, whatever they look like
}

// CheckRole refuses a column that cannot have its role.
func (c Column) CheckRole(path string, role layout.Role) error {
	var reason, hint string
	switch {
	case role == layout.RoleItemID && (!c.Kind.IsInteger() && c.Kind != KindText || c.Width > 0):
		reason, hint = fmt.Sprintf("an item_id column holds integers or text, not %s", c.Describe()), "name another column with --item-id, or convert it before"
	case role == layout.RoleTime && (!c.Kind.IsInteger() && c.Kind != KindTime || c.Width > 0):
		reason, hint = fmt.Sprintf("a time column holds timestamps, dates or integers, not %s", c.Describe()), "name another column with --time, or convert it before"
	default:
		return nil
	}
	return &loaderr.SourceError{Path: path, Column: c.Name, Reason: reason, Hint: hint}
}

// Unify is the column that can hold the values of two sources.
func Unify(a, b Column) (Column, error) {
	if a.Inferred && b.Inferred {
		if c, ok := Widest(a, b); ok {
			return c, nil
		}
	} else if a.Kind == b.Kind && a.Unit == b.Unit && a.Zone == b.Zone && a.Width == b.Width && a.Source == b.Source {
		return a, nil
	}
	return a, fmt.Errorf("is %s here but %s in", b.Describe(), a.Describe())
}

// WiderOfSameClass gives the wider of two columns of typed files that are both floats or both integers: values of either become what a dtype
// asks for, or are refused one by one.
func WiderOfSameClass(a, b Column) (wider Column, ok bool) {
	if a.Inferred || b.Inferred || a.Width != b.Width || !(a.Kind.IsFloat() && b.Kind.IsFloat() || a.Kind.IsInteger() && b.Kind.IsInteger()) {
		return a, false
	}
	if b.Kind.DType().Size() > a.Kind.DType().Size() {
		return b, true
	}
	return a, true
}

// Widest is the kind of inferred columns that holds both.
func Widest(a, b Column) (Column, bool) {
	if a.Kind > b.Kind {
		a, b = b, a
	}
	switch {
	case a.Kind == KindUnknown:
		if a.Missing && b.Kind == KindInt64 {
			b.Kind = KindFloat64
		}
		return b, true
	case a.Kind == KindInt64 && b.Kind == KindFloat64:
		return b, true
	case a.Kind == KindInt64 && b.Kind == KindText:
		return b, a.Names
	case a.Kind == KindTime && b.Kind == KindTime:
		if textvalue.UnitDigits(a.Unit) > textvalue.UnitDigits(b.Unit) {
			a, b = b, a
		}
		return b, a.Zone == b.Zone
	}
	return b, a.Kind == b.Kind
}

// TimeText is a time as a message shows it.
func (c Column) TimeText(v int64) string {
	if c.Kind != KindTime {
		return fmt.Sprint(v)
	}
	return textvalue.TimeText(v, c.Unit)
}

// TileRows is how many values are looked up or converted before they are written.
const TileRows = 4096

// IsNumber reports whether a column holds numbers: truth values, times and texts are none.
func (c Column) IsNumber() bool {
	return c.Kind == KindUnknown || c.Kind.IsInteger() || c.Kind.IsFloat()
}

// IsBool reports whether a column holds truth values that may be missing. Those of text files may not: their cells are read as what they are.
func (c Column) IsBool() bool { return c.Kind == KindBool && !c.Inferred }

// SourceName is what the source calls the type of a column.
func (c Column) SourceName() string {
	if c.Source != "" {
		return c.Source
	}
	if c.Kind == KindUnknown {
		return KindFloat64.String()
	}
	return c.Kind.String()
}
