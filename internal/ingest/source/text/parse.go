package text

import (
	"bytes"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/internal/numerals"
	"github.com/tensorcache/tensorcache/layout"
)

// csvParser parses spans into columns. Each worker has its own.
type csvParser struct {
	file          *csvFile
	parsers       []columnParser  // by column of the file
	types         []column.Column // by target, as wide as the cells so far need
	widened       bool
	buf           []byte
	plainRows     numerals.Rows
	usesPlainRows bool // plainRows parses the plain numbers of the span
}

// cellOp is the operation on the cells of a column.
type cellOp uint8

const (
	opSkip cellOp = iota
	opFloat64
	opFloat32
	opInt64
	opItem // an integer that names an item
	opTime
	opBool
	opText
	opCheck // the column will be widened: check its cells and store nothing
)

// newCSVParser returns a parser that writes to the targets.
func newCSVParser(c *csvFile, to []source.Target) *csvParser {
	p := &csvParser{file: c, parsers: make([]columnParser, len(c.header))}
	for i, t := range to {
		p.types = append(p.types, t.Column)
		col := columnParser{
			op:         opOf(t),
			target:     i,
			loss:       t.Dest.Loss,
			role:       t.Role,
			row0:       t.Row0,
			unit:       textvalue.UnitDigits(t.Unit),
			dest:       t.Dest.ColumnWriter,
			intToFloat: t.Dest.DType == layout.Float64 && t.Kind == column.KindInt64,
			dictionary: t.Words,
			lastCode:   -1,
		}
		p.parsers[t.Index] = col
	}
	p.plainRows.Reset(len(p.parsers), c.delim, c.Text.Decimal)
	return p
}

// parseSpan parses one span.
func (p *csvParser) parseSpan(s source.Span) error {
	var err error
	if p.buf, err = p.file.read(p.buf, s); err != nil {
		return err
	}
	p.beginSpan(s)
	x := splitter{delim: p.file.delim, buf: p.buf}
	for row := int64(0); row < s.Rows; {
		x.skipEmptyLines()
		x.start = x.at
		if row, err = p.parseRow(&x, row, s); err != nil {
			return err
		}
	}
	for i := range p.parsers {
		p.parsers[i].endSpan(s)
	}
	if x.skipEmptyLines(); x.at < len(p.buf) {
		return p.rowError(s, x.at, s.Row0+s.Rows, "stands where no more rows were counted",
			loaderr.HintChanged)
	}
	return nil
}

// beginSpan prepares the column parsers for the rows of a span.
func (p *csvParser) beginSpan(s source.Span) {
	p.usesPlainRows = false
	for i := range p.parsers {
		col := &p.parsers[i]
		col.beginSpan(s)
		p.usesPlainRows = p.usesPlainRows || col.op == opFloat64 || col.op == opInt64
	}
	if p.usesPlainRows = p.usesPlainRows && numerals.Available &&
		!p.file.Text.NumericMissing; !p.usesPlainRows {
		return
	}
	p.plainRows.Begin(p.buf, int(s.Rows))
	for i := range p.parsers {
		col := &p.parsers[i]
		switch col.op {
		case opFloat64:
			numerals.SetTarget(&p.plainRows, i, col.f64, 1)
		case opInt64:
			numerals.SetTarget(&p.plainRows, i, col.i64, 1)
		}
	}
}

// parseRow parses at least one row of a span. It returns the next row.
func (p *csvParser) parseRow(x *splitter, row int64, s source.Span) (next int64, err error) {
	buf, delim, fast := p.buf, p.file.delim, !p.file.Text.NumericMissing
	i, last := x.at, len(p.parsers)-1
	for c := 0; c <= last; c++ {
		if p.usesPlainRows && p.plainRows.Reads(c) && i >= numerals.Lead {
			if i, c = p.readPlain(x, i, c, row); int64(p.plainRows.Row) > row && c == 0 {
				x.at = i
				return int64(p.plainRows.Row), nil
			}
			row = int64(p.plainRows.Row)
		}
		col := &p.parsers[c]
		end, ok := 0, false
		if fast {
			end, ok = col.parseFast(buf, i, delim, p.file.Text.Decimal, s.Row0+row)
		}
		if !ok {
			var cell cell
			if cell, end, err = splitCell(buf, i, delim); err != nil {
				if err == errBufferEnd {
					err = errUnclosedQuote
				}
				return 0, p.rowError(s, x.start, s.Row0+row, err.Error(), hintQuotes)
			}
			if reason := p.parseCell(col, cell, s.Row0+row); reason != "" {
				return 0, p.file.cellError(p.types[col.target], col.role, cell, s.Row0+row,
					p.file.lineOf(x.start, buf, s.Line0), reason)
			}
			if col.op == opCheck && p.usesPlainRows {
				p.plainRows.StopAt(c)
			}
		}
		if (buf[end] == '\n') != (c == last) {
			return 0, p.cellCountError(x, s.Row0+row, s)
		}
		i = end + 1
	}
	x.at = i
	return row + 1, nil
}

// readPlain parses consecutive plain numbers, across the ends of rows. It returns the position and
// column of the first cell that is not a plain number.
func (p *csvParser) readPlain(x *splitter, i, c int, row int64) (at, column int) {
	r := &p.plainRows
	r.At, r.Column, r.Row, r.Start = i, c, int(row), x.start
	r.Read()
	x.start = r.Start
	return r.At, r.Column
}

// cellCountError returns the error for a row with a wrong number of cells.
func (p *csvParser) cellCountError(x *splitter, row int64, s source.Span) error {
	x.at = x.start
	cells, err := x.nextRow(nil)
	if err != nil {
		return p.rowError(s, x.start, row, err.Error(), hintQuotes)
	}
	return p.rowError(s, x.start, row,
		fmt.Sprintf("has %s, want %d", loaderr.Count(len(cells), "cell"), len(p.parsers)),
		"mend the row, or say with --delimiter what separates cells; one that holds that sign is to be quoted")
}

// hintQuotes is the hint for a cell whose quotes are wrong.
const hintQuotes = "begin and end the cell with a quote, and write each one within it twice"

// rowError returns the error for the row that begins at a byte of the buffer. The error quotes at
// most 200 bytes of the row.
func (p *csvParser) rowError(s source.Span, at int, row int64, reason, hint string) error {
	const maxQuoted = 200
	text, _, _ := bytes.Cut(p.buf[at:min(at+maxQuoted, len(p.buf))], []byte{'\n'})
	e := &loaderr.SourceError{
		Path:   p.file.name,
		Row:    row + 1,
		Line:   p.file.lineOf(at, p.buf, s.Line0),
		Text:   string(bytes.TrimSuffix(text, []byte{'\r'})),
		Reason: reason,
		Hint:   hint,
	}
	if e.Text == "" {
		e.Reason = "the row " + reason
	}
	return e
}

// parseFast parses the cell at buf[i] if it is a plain number. buf[end] is then the delimiter or
// line feed after the cell.
func (col *columnParser) parseFast(
	buf []byte, i int, delim, point byte, row int64,
) (end int, ok bool) {
	at := row - col.spanRow
	switch col.op {
	case opFloat64:
		v, end, ok := fastFloat(buf, i, point)
		if end, ok = endsCell(buf, end, delim, ok); ok {
			col.f64[at] = v
		}
		return end, ok
	case opFloat32:
		v, end, ok := fastFloat(buf, i, point)
		if end, ok = endsCell(buf, end, delim, ok && math.Abs(v) <= math.MaxFloat32); ok {
			col.f32[at] = float32(v)
			col.narrowing = column.WithError(col.narrowing, v, float64(col.f32[at]))
		}
		return end, ok
	case opInt64:
		v, end, ok := fastInt(buf, i)
		if end, ok = endsCell(buf, end, delim, ok); ok {
			col.i64[at] = v
		}
		return end, ok
	}
	return 0, false
}

// endsCell reports whether a number that ends at end is the whole cell. The returned position is
// that of the delimiter or line feed.
func endsCell(buf []byte, end int, delim byte, ok bool) (int, bool) {
	if ok && buf[end] == '\r' && buf[end+1] == '\n' {
		end++
	}
	return end, ok && (buf[end] == delim || buf[end] == '\n')
}

// parseCell parses any cell. reason is not empty if the cell is refused.
func (p *csvParser) parseCell(col *columnParser, x cell, row int64) (reason string) {
	at := row - col.spanRow
	switch col.op {
	case opSkip:
		return ""
	case opCheck:
		return p.widen(col, x)
	case opText:
		return col.parseText(x, at, &p.file.Text, p.types[col.target])
	}
	b := x.trimmed()
	if col.op != opFloat64 && col.op != opFloat32 && p.file.Text.IsMissing(b) {
		return p.widen(col, x)
	}
	switch col.op {
	case opFloat64, opFloat32:
		v, ok := p.file.Text.Float(b)
		if p.file.Text.IsMissing(b) {
			v, ok = column.NaN, true
		}
		if !ok && p.types[col.target].Kind == column.KindUnknown {
			return p.widen(col, x)
		}
		if !ok {
			return reasonNumber
		}
		if col.op == opFloat64 {
			col.f64[at] = v
			return ""
		}
		if col.f32[at] = float32(v); math.IsInf(float64(col.f32[at]), 0) && !math.IsInf(v, 0) {
			return reasonNarrow
		}
		col.narrowing = column.WithError(col.narrowing, v, float64(col.f32[at]))
		return ""
	case opInt64:
		if v, ok := textvalue.ParseInt(b); ok {
			col.i64[at] = v
			return ""
		}
	case opItem:
		if v, ok := textvalue.ParseCanonical(x.raw); ok {
			col.i64[at] = v
			return ""
		}
	case opTime:
		c := p.types[col.target]
		if t, ok := p.file.Text.Time(b, col.role); ok && t.Unit <= col.unit &&
			t.Zoned == (c.Zone != "") {
			v, ok := t.In(col.unit)
			if !ok {
				return "does not fit 64 bits of " + c.Unit
			}
			col.i64[at] = v
			return ""
		}
	case opBool:
		if v, ok := textvalue.ParseBool(b); ok {
			col.u8[at] = 0
			if v {
				col.u8[at] = 1
			}
			return ""
		}
	}
	return p.widen(col, x)
}

// widen widens the type of a column for a cell. The rest of the pass only checks the cells of this
// column and stores nothing.
func (p *csvParser) widen(col *columnParser, x cell) (reason string) {
	wider, reason := widenColumn(p.types[col.target], x, col.role, &p.file.Text)
	if reason == "" && wider != p.types[col.target] {
		p.types[col.target], p.widened, col.op = wider, true, opCheck
	}
	return reason
}

// parseText stores the dictionary code of a text. A missing text has the code -1; it is an error
// for an item.
func (col *columnParser) parseText(
	x cell, at int64, d *textvalue.Dialect, c column.Column,
) (reason string) {
	if col.lastCode < 0 || !bytes.Equal(x.raw, col.lastText) {
		switch missing := d.IsMissing(x.trimmed()); {
		case missing && col.role == layout.RoleItemID:
			return source.ReasonItem
		case missing:
			col.i32[at] = -1
			return ""
		case col.role == layout.RoleItemID && !utf8.Valid(x.raw):
			return source.ReasonUTF8
		case col.role == layout.RoleValue:
			if reason := checkText(c, x, d); reason != "" {
				return reason
			}
		}
		col.lastText = append(col.lastText[:0], x.raw...)
		col.lastCode = col.dictionary.Code(x.text())
	}
	col.i32[at] = col.lastCode
	return ""
}
