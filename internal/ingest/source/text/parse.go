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

// csvParser parses spans into columns; each worker has its own.
type csvParser struct {
	file    *csvFile
	ops     []csvOp         // by column of the file
	columns []column.Column // by target, as wide as the cells so far ask for
	widened bool
	buf     []byte
	plain   numerals.Rows
	reads   bool // plain numbers are read by that
}

// opcode says what is done with the cells of a column.
type opcode uint8

const (
	opSkip opcode = iota
	opFloat64
	opFloat32
	opInt64
	opItem // an integer that names an item
	opTime
	opBool
	opText
	opCheck // the column is to be widened; its cells are only looked at
)

func newCSVParser(c *csvFile, to []source.Target) *csvParser {
	p := &csvParser{file: c, ops: make([]csvOp, len(c.header))}
	for i, t := range to {
		p.columns = append(p.columns, t.Column)
		op := csvOp{code: codeOf(t), target: i, loss: t.Dest.Loss, role: t.Role, row0: t.Row0, unit: textvalue.UnitDigits(t.Unit), dest: t.Dest.ColumnWriter, whole: t.Dest.DType == layout.Float64 && t.Kind == column.KindInt64, dict: t.Words, code32: -1}
		p.ops[t.Index] = op
	}
	p.plain.Reset(len(p.ops), c.delim, c.Text.Decimal)
	return p
}

// span parses one span.
func (p *csvParser) span(s source.Span) error {
	var err error
	if p.buf, err = p.file.read(p.buf, s); err != nil {
		return err
	}
	p.begin(s)
	x := splitter{delim: p.file.delim, buf: p.buf}
	for row := int64(0); row < s.Rows; {
		x.blank()
		x.start = x.at
		if row, err = p.row(&x, row, s); err != nil {
			return err
		}
	}
	for i := range p.ops {
		p.ops[i].end(s)
	}
	if x.blank(); x.at < len(p.buf) {
		return p.broken(s, x.at, s.Row0+s.Rows, "stands where no more rows were counted", loaderr.HintChanged)
	}
	return nil
}

// begin turns to the rows of a span.
func (p *csvParser) begin(s source.Span) {
	p.reads = false
	for i := range p.ops {
		op := &p.ops[i]
		op.begin(s)
		p.reads = p.reads || op.code == opFloat64 || op.code == opInt64
	}
	if p.reads = p.reads && numerals.Available && !p.file.Text.NumericMissing; !p.reads {
		return
	}
	p.plain.Begin(p.buf, int(s.Rows))
	for i := range p.ops {
		op := &p.ops[i]
		switch op.code {
		case opFloat64:
			numerals.To(&p.plain, i, op.f64, 1)
		case opInt64:
			numerals.To(&p.plain, i, op.i64, 1)
		}
	}
}

// row parses a row of a span, or more. It says which one comes next.
func (p *csvParser) row(x *splitter, row int64, s source.Span) (next int64, err error) {
	buf, delim, fast := p.buf, p.file.delim, !p.file.Text.NumericMissing
	i, last := x.at, len(p.ops)-1
	for c := 0; c <= last; c++ {
		if p.reads && p.plain.Reads(c) && i >= numerals.Lead {
			if i, c = p.readPlain(x, i, c, row); int64(p.plain.Row) > row && c == 0 {
				x.at = i
				return int64(p.plain.Row), nil
			}
			row = int64(p.plain.Row)
		}
		op := &p.ops[c]
		end, ok := 0, false
		if fast {
			end, ok = op.fast(buf, i, delim, p.file.Text.Decimal, s.Row0+row)
		}
		if !ok {
			var cell cell
			if cell, end, err = cutCell(buf, i, delim); err != nil {
				if err == errShort {
					err = errOpen
				}
				return 0, p.broken(s, x.start, s.Row0+row, err.Error(), hintQuotes)
			}
			if reason := p.slow(op, cell, s.Row0+row); reason != "" {
				return 0, p.file.refuse(p.columns[op.target], op.role, cell, s.Row0+row, p.file.lineOf(x.start, buf, s.Line0), reason)
			}
			if op.code == opCheck && p.reads {
				p.plain.Leave(c)
			}
		}
		if (buf[end] == '\n') != (c == last) {
			return 0, p.ragged(x, s.Row0+row, s)
		}
		i = end + 1
	}
	x.at = i
	return row + 1, nil
}

// readPlain reads cells as long as they are plain numbers, over the ends of rows.
func (p *csvParser) readPlain(x *splitter, i, c int, row int64) (at, column int) {
	r := &p.plain
	r.At, r.Column, r.Row, r.Start = i, c, int(row), x.start
	r.Read()
	x.start = r.Start
	return r.At, r.Column
}

// ragged says how many cells a row has.
func (p *csvParser) ragged(x *splitter, row int64, s source.Span) error {
	x.at = x.start
	cells, err := x.row(nil)
	if err != nil {
		return p.broken(s, x.start, row, err.Error(), hintQuotes)
	}
	return p.broken(s, x.start, row, fmt.Sprintf("has %s, want %d", loaderr.Count(len(cells), "cell"), len(p.ops)), "mend the row, or say with --delimiter what separates cells; one that holds that sign is to be quoted")
}

const hintQuotes = "begin and end the cell with a quote, and write each one within it twice"

// broken refuses the row that begins at a byte of the buffer, and quotes how it begins.
func (p *csvParser) broken(s source.Span, at int, row int64, reason, hint string) error {
	const most = 200
	text, _, _ := bytes.Cut(p.buf[at:min(at+most, len(p.buf))], []byte{'\n'})
	e := &loaderr.SourceError{Path: p.file.name, Row: row + 1, Line: p.file.lineOf(at, p.buf, s.Line0), Text: string(bytes.TrimSuffix(text, []byte{'\r'})), Reason: reason, Hint: hint}
	if e.Text == "" {
		e.Reason = "the row " + reason
	}
	return e
}

// fast reads the cell at buf[i] if it is a plain number, or skips an unquoted one. buf[end] is the delimiter or line feed after it.
func (op *csvOp) fast(buf []byte, i int, delim, point byte, row int64) (end int, ok bool) {
	at := row - op.first
	switch op.code {
	case opFloat64:
		v, end, ok := fastFloat(buf, i, point)
		if end, ok = closes(buf, end, delim, ok); ok {
			op.f64[at] = v
		}
		return end, ok
	case opFloat32:
		v, end, ok := fastFloat(buf, i, point)
		if end, ok = closes(buf, end, delim, ok && math.Abs(v) <= math.MaxFloat32); ok {
			op.f32[at] = float32(v)
			op.lost = column.Noted(op.lost, v, float64(op.f32[at]))
		}
		return end, ok
	case opInt64:
		v, end, ok := fastInt(buf, i)
		if end, ok = closes(buf, end, delim, ok); ok {
			op.i64[at] = v
		}
		return end, ok
	}
	return 0, false
}

// closes reports whether a number that ends at end fills its cell.
func closes(buf []byte, end int, delim byte, ok bool) (int, bool) {
	if ok && buf[end] == '\r' && buf[end+1] == '\n' {
		end++
	}
	return end, ok && (buf[end] == delim || buf[end] == '\n')
}

// slow reads any cell. reason says why it is refused.
func (p *csvParser) slow(op *csvOp, x cell, row int64) (reason string) {
	at := row - op.first
	switch op.code {
	case opSkip:
		return ""
	case opCheck:
		return p.widen(op, x)
	case opText:
		return op.word(x, at, &p.file.Text, p.columns[op.target])
	}
	b := x.trimmed()
	if op.code != opFloat64 && op.code != opFloat32 && p.file.Text.IsMissing(b) {
		return p.widen(op, x)
	}
	switch op.code {
	case opFloat64, opFloat32:
		v, ok := p.file.Text.Float(b)
		if p.file.Text.IsMissing(b) {
			v, ok = column.NaN, true
		}
		if !ok && p.columns[op.target].Kind == column.KindUnknown {
			return p.widen(op, x)
		}
		if !ok {
			return reasonNumber
		}
		if op.code == opFloat64 {
			op.f64[at] = v
			return ""
		}
		if op.f32[at] = float32(v); math.IsInf(float64(op.f32[at]), 0) && !math.IsInf(v, 0) {
			return reasonNarrow
		}
		op.lost = column.Noted(op.lost, v, float64(op.f32[at]))
		return ""
	case opInt64:
		if v, ok := textvalue.ParseInt(b); ok {
			op.i64[at] = v
			return ""
		}
	case opItem:
		if v, ok := textvalue.ParseCanonical(x.raw); ok {
			op.i64[at] = v
			return ""
		}
	case opTime:
		c := p.columns[op.target]
		if t, ok := p.file.Text.Time(b, op.role); ok && t.Unit <= op.unit && t.Zoned == (c.Zone != "") {
			v, ok := t.In(op.unit)
			if !ok {
				return "does not fit 64 bits of " + c.Unit
			}
			op.i64[at] = v
			return ""
		}
	case opBool:
		if v, ok := textvalue.ParseBool(b); ok {
			op.u8[at] = 0
			if v {
				op.u8[at] = 1
			}
			return ""
		}
	}
	return p.widen(op, x)
}

// widen notes that a column must be wider to hold a cell. What follows in this pass is looked at, not kept.
func (p *csvParser) widen(op *csvOp, x cell) (reason string) {
	wider, reason := admit(p.columns[op.target], x, op.role, &p.file.Text)
	if reason == "" && wider != p.columns[op.target] {
		p.columns[op.target], p.widened, op.code = wider, true, opCheck
	}
	return reason
}

// word gives a text its code. One that is missing has none, unless an item needs it.
func (op *csvOp) word(x cell, at int64, d *textvalue.Dialect, c column.Column) (reason string) {
	if op.code32 < 0 || !bytes.Equal(x.raw, op.last) {
		switch missing := d.IsMissing(x.trimmed()); {
		case missing && op.role == layout.RoleItemID:
			return source.ReasonItem
		case missing:
			op.i32[at] = -1
			return ""
		case op.role == layout.RoleItemID && !utf8.Valid(x.raw):
			return source.ReasonUTF8
		case op.role == layout.RoleValue:
			if reason := admitText(c, x, d); reason != "" {
				return reason
			}
		}
		op.last = append(op.last[:0], x.raw...)
		op.code32 = op.dict.Code(x.text())
	}
	op.i32[at] = op.code32
	return ""
}
