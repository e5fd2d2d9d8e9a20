package text

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/source/lines"
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

// columnParser parses the cells of one column of the file.
type columnParser struct{ lines.Values }

// newCSVParser returns a parser that writes to the targets.
func newCSVParser(c *csvFile, to []source.Target) *csvParser {
	p := &csvParser{file: c, parsers: make([]columnParser, len(c.header))}
	for i, t := range to {
		p.types = append(p.types, t.Column)
		p.parsers[t.Index] = columnParser{lines.NewValues(i, t)}
	}
	p.plainRows.Reset(len(p.parsers), c.delim, c.Text.Decimal)
	return p
}

// ParseSpan parses one span.
func (p *csvParser) ParseSpan(s source.Span) error {
	var err error
	if p.buf, err = p.file.Read(p.buf, s); err != nil {
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
		p.parsers[i].EndSpan(s)
	}
	if x.skipEmptyLines(); x.at < len(p.buf) {
		return p.rowError(s, x.at, s.Row0+s.Rows, "stands where no more rows were counted",
			loaderr.HintChanged)
	}
	return nil
}

// Widened returns the columns of the targets with the types that the cells need, nil if the targets
// have them.
func (p *csvParser) Widened() []column.Column {
	if !p.widened {
		return nil
	}
	p.widened = false
	return slices.Clone(p.types)
}

// beginSpan prepares the column parsers for the rows of a span.
func (p *csvParser) beginSpan(s source.Span) {
	p.usesPlainRows = false
	for i := range p.parsers {
		col := &p.parsers[i]
		col.BeginSpan(s)
		p.usesPlainRows = p.usesPlainRows || col.Op == lines.Float64 || col.Op == lines.Int64
	}
	if p.usesPlainRows = p.usesPlainRows && numerals.Available &&
		!p.file.Text.NumericMissing; !p.usesPlainRows {
		return
	}
	p.plainRows.Begin(p.buf, int(s.Rows))
	for i := range p.parsers {
		col := &p.parsers[i]
		switch col.Op {
		case lines.Float64:
			numerals.SetTarget(&p.plainRows, i, col.F64, 1)
		case lines.Int64:
			numerals.SetTarget(&p.plainRows, i, col.I64, 1)
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
				return 0, p.file.cellError(p.types[col.Target], col.Role, cell, s.Row0+row,
					lines.LineOf(buf, x.start, s.Line0), reason)
			}
			if col.Op == lines.Check && p.usesPlainRows {
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
	if err == errBufferEnd {
		err = errUnclosedQuote
	}
	if err != nil {
		return p.rowError(s, x.start, row, err.Error(), hintQuotes)
	}
	if err := p.file.checkLinesAbove(); err != nil {
		return err
	}
	return p.rowError(s, x.start, row,
		fmt.Sprintf("has %s, want %d", loaderr.Count(len(cells), "cell"), len(p.parsers)),
		"mend the row, or say with `delimiter` what separates cells; one that holds that sign is to be quoted")
}

// hintQuotes is the hint for a cell whose quotes are wrong.
const hintQuotes = "begin and end the cell with a quote, and write each one within it twice"

// rowError returns the error for the row that begins at a byte of the buffer. The error quotes at
// most 200 bytes of the row.
func (p *csvParser) rowError(s source.Span, at int, row int64, reason, hint string) error {
	const maxQuoted = 200
	text, _, _ := bytes.Cut(p.buf[at:min(at+maxQuoted, len(p.buf))], []byte{'\n'})
	e := &loaderr.SourceError{
		Path:   p.file.Path(),
		Row:    row + 1,
		Line:   lines.LineOf(p.buf, at, s.Line0),
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
	at := row - col.SpanRow
	switch col.Op {
	case lines.Float64:
		v, end, ok := numerals.Float(buf, i, point)
		if end, ok = endsCell(buf, end, delim, ok); ok {
			col.F64[at] = v
		}
		return end, ok
	case lines.Float32:
		v, end, ok := numerals.Float(buf, i, point)
		if end, ok = endsCell(buf, end, delim, ok); ok {
			ok = col.SetFloat32(at, v)
		}
		return end, ok
	case lines.Int64:
		v, end, ok := numerals.Int(buf, i)
		if end, ok = endsCell(buf, end, delim, ok); ok {
			col.I64[at] = v
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
	at := row - col.SpanRow
	switch col.Op {
	case lines.Skip:
		return ""
	case lines.Check:
		return p.widen(col, x)
	case lines.Text:
		return col.parseText(x, at, &p.file.Text, p.types[col.Target])
	}
	b := x.trimmed()
	missing := p.file.Text.IsMissingIn(col.Role, b)
	if missing && !col.Op.StoresMissing() {
		return p.widen(col, x)
	}
	switch col.Op {
	case lines.Float64, lines.Float32:
		v, ok := p.file.Text.Float(b)
		if missing {
			v, ok = column.NaN, true
		}
		if !ok && p.types[col.Target].Kind == column.KindUnknown {
			return p.widen(col, x)
		}
		if !ok {
			return reasonNumber
		}
		if col.Op == lines.Float64 {
			col.F64[at] = v
			return ""
		}
		if !col.SetFloat32(at, v) {
			return reasonNarrow
		}
		return ""
	case lines.Int64:
		if v, ok := p.file.Text.Int(b); ok {
			col.I64[at] = v
			return ""
		}
	case lines.Item:
		if v, ok := textvalue.ParseCanonical(x.raw); ok {
			col.I64[at] = v
			return ""
		}
	case lines.Time:
		c := p.types[col.Target]
		if t, ok := p.file.Text.Time(b, col.Role); ok && t.Unit <= col.Unit &&
			t.Zoned == (c.Zone != "") {
			v, ok := t.In(col.Unit)
			if !ok {
				return "does not fit 64 bits of " + c.Unit
			}
			col.I64[at] = v
			return ""
		}
	case lines.Bool, lines.BoolFloat:
		if missing {
			col.F64[at] = column.NaN
			return ""
		}
		if v, ok := textvalue.ParseBool(b); ok {
			if col.SetBool(at, v); b[1] < 'a' {
				col.NoteCapitals()
			}
			return ""
		}
	}
	return p.widen(col, x)
}

// widen widens the type of a column for a cell. The rest of the pass only checks the cells of this
// column and stores nothing.
func (p *csvParser) widen(col *columnParser, x cell) (reason string) {
	wider, reason := widenColumn(p.types[col.Target], x, col.Role, &p.file.Text)
	if reason == "" && wider != p.types[col.Target] {
		p.types[col.Target], p.widened, col.Op = wider, true, lines.Check
	}
	return reason
}

// parseText stores the dictionary code of a text. A missing text has the code -1; it is an error
// for an item.
func (col *columnParser) parseText(
	x cell, at int64, d *textvalue.Dialect, c column.Column,
) (reason string) {
	if col.SetTextAgain(at, x.raw) {
		return ""
	}
	switch missing := d.IsMissingIn(col.Role, x.trimmed()); {
	case missing && col.Role == layout.RoleItemID:
		return source.ReasonItem
	case missing:
		col.I32[at] = -1
		return ""
	case col.Role == layout.RoleItemID && !utf8.Valid(x.raw):
		return source.ReasonUTF8
	case col.Role == layout.RoleValue:
		if reason := checkText(c, x, d); reason != "" {
			return reason
		}
	}
	col.SetText(at, x.raw, x.text())
	return ""
}
