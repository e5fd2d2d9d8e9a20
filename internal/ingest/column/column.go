// Package column describes a column of a source (name, type, unit, zone, width) and writes its
// values.
//
// [Write] converts values to the dtype of the result, [Dictionary] gives the words of a text column
// their codes, [WriteMissing] writes missing values, and [Loss] measures the error of storing
// floats as narrower ones. [Unify] and [Widest] find a type for the columns of several sources.
//
// A value outside the range of its dtype is refused: no integer wraps around, and no finite float
// becomes infinite. Floats are rounded to narrower ones. Integers that a float dtype would round
// are refused if an option asks for the dtype; see [Sink].
package column

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/layout"
)

// MaxRows bounds the number of rows that a header may have, so that products with it do not
// overflow.
const MaxRows = 1 << 44

// Kind is the type of a column in a source.
type Kind uint8

// Kinds of columns. The order is used: see [Kind.IsInteger], [Kind.IsFloat] and [Widest].
const (
	KindUnknown Kind = iota // every cell so far is missing
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

// KindNames are the names of kinds. They are those of dtypes, except for KindUnknown.
var KindNames = [...]string{
	"null", "bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64", "int64",
	"float16", "float32", "float64", "timestamp", "duration", "text",
}

// String returns the name of the kind.
func (k Kind) String() string { return KindNames[k] }

// DType returns the dtype that a kind is stored as by default.
func (k Kind) DType() layout.DType {
	if k == KindUnknown {
		return layout.Float64
	}
	return layout.DType(KindNames[k])
}

// IsInteger reports whether values are integers of any size, signed or not.
func (k Kind) IsInteger() bool { return KindInt8 <= k && k <= KindInt64 }

// IsFloat reports whether values are floats of any size.
func (k Kind) IsFloat() bool { return KindFloat16 <= k && k <= KindFloat64 }

// KindOf returns the kind of a dtype's name. ok is false for an unknown one.
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
	Source     string // the source's name of the type, if it is not that of the kind
	Inferred   bool   // the kind comes from cells of a text file, and later cells may widen it
	Mixed      bool   // typed files and text files have the column
	Names      bool   // an item_id column of integers: a text in a later row may widen it to text
	Missing    bool   // a cell was missing while the kind was unknown
	Cells      bool   // values are cells of a CSV or TSV file
	Nullable   bool   // booleans of a text file may be missing, see Want
	As         string // the name that options have for it, if not Name
	NamedOnly  bool   // windows include the column only where a spec names it
	Calendar   string // the feature that a load computed the values as, "" if it did not
	Decimal    bool   // values are decimals, rounded to the nearest float64
	// PartOfFilled is the column in which a load filled values, if these are a part of it
	PartOfFilled *layout.PartOf
}

// MayBeRounded reports whether float64 values may differ from those of the source, because these are
// decimals or numbers in text.
func (c Column) MayBeRounded() bool {
	return c.Kind == KindFloat64 && (c.Decimal || c.Inferred || c.Mixed)
}

// Describe returns the type for messages, such as timestamp[ns, UTC] or float32[3].
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

// Want is a column that a load reads.
type Want struct {
	Index int         // in the source
	Role  layout.Role // RoleValue for a value column, never empty
	Text  bool        // cells are texts, also if they are numbers

	// FollowsText is true if rows are appended to a column of texts. Cells of CSV and TSV files are
	// then texts, but none may be a number, as if all rows were in one file.
	FollowsText bool
	// Nullable is true if booleans may be missing, because the load fills them or stores numbers.
	// Readers of text return such a column as Nullable.
	Nullable bool
	// As is the name that options have for the column, "" if it is that in the source. Readers of
	// text return it.
	As string
}

// InRole returns the column as a load reads it in a role: decimals that are items or times are int64.
func (c Column) InRole(role layout.Role) Column {
	if role != layout.RoleValue && c.Decimal && c.Kind == KindFloat64 && c.Width == 0 {
		c.Kind, c.Source = KindInt64, ""
	}
	return c
}

// CheckRole refuses a column that cannot have the role. The error is a [loaderr.SourceError].
func (c Column) CheckRole(path string, role layout.Role) error {
	var reason, hint string
	switch {
	case role == layout.RoleItemID && (!c.Kind.IsInteger() && c.Kind != KindText || c.Width > 0):
		reason = fmt.Sprintf("an item_id column holds integers or text, not %s", c.Describe())
		hint = "name another column with `item_id`, or convert it before"
	case role == layout.RoleTime && (!c.Kind.IsInteger() && c.Kind != KindTime || c.Width > 0):
		reason = fmt.Sprintf("a time column holds timestamps, dates or integers, not %s",
			c.Describe())
		hint = "name another column with `time`, or convert it before"
	default:
		return nil
	}
	return &loaderr.SourceError{Path: path, Column: c.Name, Reason: reason, Hint: hint}
}

// Unify returns the column for the values of both columns, of two sources.
func Unify(a, b Column) (Column, error) {
	if a.Inferred && b.Inferred {
		if c, ok := Widest(a, b); ok {
			return c, nil
		}
	} else if a.Kind == b.Kind && a.Unit == b.Unit && a.Zone == b.Zone && a.Width == b.Width &&
		a.Source == b.Source {
		a.Mixed = a.Mixed || a.Inferred != b.Inferred
		a.Nullable = a.Nullable || b.Nullable
		a.Decimal = a.Decimal || b.Decimal
		a.NamedOnly = a.NamedOnly || b.NamedOnly
		a.Calendar = sameOrNone(a.Calendar, b.Calendar)
		a.PartOfFilled = cmp.Or(a.PartOfFilled, b.PartOfFilled)
		return a, nil
	}
	is, was := b.Describe(), a.Describe()
	if is == was {
		is, was = b.SourceName(), a.SourceName()
	}
	return a, fmt.Errorf("is %s here but %s in", is, was)
}

// WiderOfSameClass returns the wider of two columns of typed files that are both floats or both
// integers. If an option asks for a dtype, values of both are converted to it, or refused one by
// one.
func WiderOfSameClass(a, b Column) (wider Column, ok bool) {
	sameClass := a.Kind.IsFloat() && b.Kind.IsFloat() || a.Kind.IsInteger() && b.Kind.IsInteger()
	if a.Inferred || b.Inferred || a.Width != b.Width || !sameClass {
		return a, false
	}
	wider = a
	if b.Kind.DType().Size() > a.Kind.DType().Size() {
		wider = b
	}
	wider.Mixed, wider.Decimal = a.Mixed || b.Mixed, a.Decimal || b.Decimal
	wider.NamedOnly = a.NamedOnly || b.NamedOnly
	wider.Calendar = sameOrNone(a.Calendar, b.Calendar)
	wider.PartOfFilled = cmp.Or(a.PartOfFilled, b.PartOfFilled)
	return wider, true
}

// sameOrNone returns the text that both are, "" if they differ.
func sameOrNone(a, b string) string {
	if a != b {
		return ""
	}
	return a
}

// Widest returns the type for the cells of both inferred columns. ok is false if there is none.
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

// TimeText returns a time of the column for messages.
func (c Column) TimeText(v int64) string {
	if c.Kind != KindTime {
		return fmt.Sprint(v)
	}
	return textvalue.TimeText(v, c.Unit)
}

// BlockRows is the number of values that are converted at a time.
const BlockRows = 4096

// IsNumber reports whether values are numbers. Booleans, times and texts are not.
func (c Column) IsNumber() bool {
	return c.Kind == KindUnknown || c.Kind.IsInteger() || c.Kind.IsFloat()
}

// IsBool reports whether values are booleans.
func (c Column) IsBool() bool { return c.Kind == KindBool }

// OptionName returns the name that options have for the column.
func (c Column) OptionName() string { return cmp.Or(c.As, c.Name) }

// HintText returns the hint to load cells of CSV and TSV files as text.
func HintText(c Column) string {
	return "load all cells as text with " +
		loaderr.ColumnOption("dtype", c.OptionName(), string(layout.Text))
}

// CanBeText reports whether the option dtype can make texts of both columns.
func CanBeText(a, b Column) bool {
	return (a.Cells || a.Kind == KindText) && (b.Cells || b.Kind == KindText)
}

// SourceName returns the source's name of the type.
func (c Column) SourceName() string {
	if c.Source != "" {
		return c.Source
	}
	if c.Kind == KindUnknown {
		return KindFloat64.String()
	}
	return c.Kind.String()
}
