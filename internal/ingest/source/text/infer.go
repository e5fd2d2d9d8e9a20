package text

import (
	"bytes"
	"unicode/utf8"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/source/lines"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/layout"
)

// Reasons for refusing a cell.
const (
	reasonNumber  = "is not a number"
	reasonBool    = "is neither true nor false"
	reasonTime    = "is not a time in an unambiguous format"
	reasonFormat  = "is not a time in the given format"
	reasonInteger = "is neither an integer nor a time"
	reasonZone    = "and the cells before it: some have a time zone and some do not"
	reasonText    = "is text, not a number"
	reasonMixed   = "looks like a number, but the cells before it are text"
	reasonDate    = "looks like a time, but the cells before it are text"
	reasonNarrow  = "does not fit float32"
)

// widenColumn returns c with a type that can hold the cell x and the cells before it. reason is not
// empty if no type can hold them.
func widenColumn(
	c column.Column, x cell, role layout.Role, d *textvalue.Dialect,
) (out column.Column, reason string) {
	b := x.trimmed()
	if d.IsMissingIn(role, b) {
		switch {
		case role == layout.RoleItemID:
			return c, source.ReasonItem
		case role == layout.RoleTime:
			return c, source.ReasonNoTime
		case c.Kind == column.KindUnknown:
			c.Missing = true
		case c.Kind == column.KindInt64:
			c.Kind = column.KindFloat64
		case c.Kind == column.KindBool && c.Nullable:
		case c.Kind != column.KindFloat64 && c.Kind != column.KindText:
			return c, source.ReasonMissing
		}
		return c, ""
	}
	switch role {
	case layout.RoleItemID:
		return widenItem(c, x)
	case layout.RoleTime:
		if (c.Kind == column.KindUnknown || c.Kind == column.KindInt64) && !d.Formatted(role) {
			if _, ok := d.Int(b); ok {
				c.Kind = column.KindInt64
				return c, ""
			}
		}
		if c.Kind == column.KindInt64 {
			return c, reasonInteger
		}
		t, ok := d.Time(b, role)
		if !ok && d.Formatted(role) {
			return c, reasonFormat
		}
		return widenTime(c, t, ok)
	}
	if c.Kind == column.KindText {
		return c, checkText(c, x, d)
	}
	return widenValue(c, x, d)
}

// checkText returns a reason if the cell cannot be a text. If the type was inferred as text from
// the first cell, a cell that looks like a number is refused: one of the two is probably a mistake.
func checkText(c column.Column, x cell, d *textvalue.Dialect) (reason string) {
	switch b := x.trimmed(); {
	case !utf8.Valid(x.raw):
		return source.ReasonUTF8
	case !c.Inferred || !looksNumeric(b):
		return ""
	case c.Kind == column.KindUnknown:
		return reasonText
	default:
		if _, ok := textvalue.ParseTime(b); ok {
			return reasonDate
		}
		return reasonMixed
	}
}

// looksNumeric reports whether a text has digits and no letters but the e of an exponent, such as
// 1.234,5, 01/02/2020, 7 or 1,5e3, or is an infinity.
func looksNumeric(b []byte) bool {
	digits := false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c-'0' <= 9:
			digits = true
		case c|0x20 == 'e' && isExponent(b[:i], b[i+1:]):
			return true
		case c >= utf8.RuneSelf && groupSign(b[i:]) > 0:
			i += groupSign(b[i:]) - 1
		case c|0x20-'a' <= 'z'-'a' || c >= utf8.RuneSelf:
			_, ok := textvalue.ParseFloat(b)
			return ok
		}
	}
	return digits
}

// groupSign returns the size of a sign between thousands that is not ASCII, if a text begins with one.
func groupSign(b []byte) int {
	if r, size := utf8.DecodeRune(b); r == '’' || r == '\u00a0' || r == '\u202f' {
		return size
	}
	return 0
}

// isExponent reports whether an e is that of an exponent: after a digit, or a digit and a decimal
// mark, and before an integer that ends the text.
func isExponent(before, after []byte) bool {
	if n := len(before); n > 0 && (before[n-1] == '.' || before[n-1] == ',') {
		before = before[:n-1]
	}
	if n := len(before); n == 0 || before[n-1]-'0' > 9 {
		return false
	}
	if len(after) > 0 && (after[0] == '+' || after[0] == '-') {
		after = after[1:]
	}
	return len(after) > 0 && len(bytes.Trim(after, "0123456789")) == 0
}

// widenItem widens the type of an item column: an integer if all cells are integers in their
// shortest form, otherwise text.
func widenItem(c column.Column, x cell) (column.Column, string) {
	if !utf8.Valid(x.raw) {
		return c, source.ReasonUTF8
	}
	if _, ok := textvalue.ParseCanonical(x.raw); !ok || c.Kind == column.KindText {
		c.Kind = column.KindText
	} else {
		c.Kind = column.KindInt64
	}
	return c, ""
}

// widenTime widens the type of a time column to the finer unit. ok reports whether the cell was
// parsed as t.
func widenTime(c column.Column, t textvalue.Time, ok bool) (column.Column, string) {
	if !ok {
		return c, reasonTime
	}
	w, ok := lines.WidenTime(c, t)
	if !ok {
		return c, reasonZone
	}
	return w, ""
}

// widenValue widens the type of a value column for a cell that is not missing.
func widenValue(c column.Column, x cell, d *textvalue.Dialect) (column.Column, string) {
	b := x.trimmed()
	switch c.Kind {
	case column.KindBool:
		if _, ok := textvalue.ParseBool(b); !ok {
			return c, reasonBool
		}
		return c, ""
	case column.KindTime:
		t, ok := textvalue.ParseTime(b)
		return widenTime(c, t, ok)
	case column.KindUnknown:
		if _, ok := textvalue.ParseBool(b); ok {
			c.Kind = column.KindBool
			return c, ""
		}
		if t, ok := textvalue.ParseTime(b); ok {
			return widenTime(c, t, ok)
		}
	}
	if _, ok := d.Int(b); ok {
		if c.Kind == column.KindUnknown && !c.Missing {
			c.Kind = column.KindInt64
		} else if c.Kind == column.KindUnknown {
			c.Kind = column.KindFloat64
		}
		return c, ""
	}
	if _, ok := d.Float(b); ok {
		c.Kind = column.KindFloat64
		return c, ""
	}
	if c.Kind != column.KindUnknown {
		return c, reasonNumber
	}
	if reason := checkText(c, x, d); reason != "" {
		return c, reason
	}
	c.Kind = column.KindText
	return c, ""
}

// sampleRows is the number of rows from which column types are inferred at first.
const sampleRows = 1000

// Describe infers the types of the wanted columns from the first rows.
func (c *csvFile) Describe(w []column.Want) ([]column.Column, error) {
	out := make([]column.Column, len(w))
	for i, x := range w {
		out[i] = column.Column{Name: c.header[x.Index], Inferred: true,
			Names: x.Role == layout.RoleItemID, Cells: true, Nullable: x.Nullable, As: x.As}
		switch {
		case x.Text:
			out[i] = column.Column{Name: c.header[x.Index], Kind: column.KindText}
		case x.FollowsText:
			out[i].Kind = column.KindText
		}
	}
	for size := int64(files.BlockBytes); ; size *= 4 {
		rows, whole, err := c.inferFrom(out, w, size)
		if err != nil {
			return nil, err
		}
		if rows > 0 || whole || size >= source.MaxRecordBytes {
			break
		}
	}
	for i, x := range w {
		if out[i].Kind == column.KindUnknown && x.Role != layout.RoleValue {
			out[i].Kind = column.KindInt64 // the first row is damaged; ReadRows reports it
		}
	}
	return out, nil
}

// inferFrom infers the types from the rows in the first size bytes. It returns the number of these
// rows and whether the bytes are the whole file.
func (c *csvFile) inferFrom(
	out []column.Column, w []column.Want, size int64,
) (row int64, whole bool, err error) {
	buf := make([]byte, min(size, c.Size-c.dataOffset), min(size, c.Size-c.dataOffset)+1)
	if _, err := c.ReadAt(buf, c.dataOffset); err != nil {
		return 0, false, err
	}
	if whole = c.dataOffset+int64(len(buf)) >= c.Size; whole {
		buf = append(buf, '\n')
	}
	s := splitter{delim: c.delim, buf: buf}
	var cells []cell
	for ; row < min(sampleRows, c.Rows()); row++ {
		s.skipEmptyLines()
		if cells, err = s.nextRow(cells[:0]); err != nil || len(cells) != len(c.header) {
			return row, whole || err == nil, nil // ReadRows reports the row if it is damaged
		}
		for i, x := range w {
			next, reason := widenColumn(out[i], cells[x.Index], x.Role, &c.Text)
			if reason != "" {
				return row, whole, c.cellError(out[i], x.Role, cells[x.Index], row,
					lines.LineOf(buf, s.start, c.line0), reason)
			}
			out[i] = next
		}
	}
	return row, whole, nil
}
