package tsf

import (
	"bytes"
	"errors"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/source/lines"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/internal/numerals"
	"github.com/tensorcache/tensorcache/layout"
)

// parser parses spans into the targets. Each worker has its own.
type parser struct {
	*file
	attributes []lines.Values // by place in the header; those of other attributes skip
	times      lines.Values
	numbers    lines.Values
	buf        []byte
}

func newParser(f *file, to []source.Target) *parser {
	p := &parser{file: f, attributes: make([]lines.Values, len(f.attributes))}
	for i, t := range to {
		v := lines.NewValues(i, t)
		switch a, ok := f.attributeOf(t.Index); {
		case ok:
			p.attributes[a] = v
		case t.Index == len(f.names)-1:
			p.numbers = v
		default:
			p.times = v
		}
	}
	return p
}

// columns calls do with each column.
func (p *parser) columns(do func(v *lines.Values)) {
	for i := range p.attributes {
		do(&p.attributes[i])
	}
	do(&p.times)
	do(&p.numbers)
}

// Widened returns nil: the scan has found all types.
func (p *parser) Widened() []column.Column { return nil }

// ParseSpan parses the segments of a span.
func (p *parser) ParseSpan(s source.Span) (err error) {
	if p.buf, err = p.Read(p.buf, s); err != nil {
		return err
	}
	p.columns(func(v *lines.Values) { v.BeginSpan(s) })
	_, i := p.segmentOf(s.Row0)
	for ; i < len(p.segments) && p.segments[i].row0 < s.Row0+s.Rows; i++ {
		if err := p.parseSegment(p.segments[i], p.rowsOf(i), s); err != nil {
			return err
		}
	}
	p.columns(func(v *lines.Values) { v.EndSpan(s) })
	return nil
}

// parseSegment stores the values of a segment, and the attributes of its series beside each.
func (p *parser) parseSegment(x segment, rows int64, s source.Span) error {
	begin, at := x.begin-s.Begin, x.row0-s.Row0
	cells, n := splitHead(p.buf[begin:x.end-s.Begin], len(p.attributes))
	if x.first > 0 {
		var err error
		if cells, err = p.attributesOf(x); err != nil {
			return err
		}
	} else if begin += x.headBytes; int64(n) != x.headBytes {
		return p.changed()
	}
	for i := range p.attributes {
		if err := p.storeAttribute(&p.attributes[i], i, cells[i], at, rows, x); err != nil {
			return err
		}
	}
	if p.times.Op != lines.Skip {
		if err := p.storeTimes(cells[p.start], at, rows, x); err != nil {
			return err
		}
	}
	if p.numbers.Op == lines.Skip {
		return nil
	}
	return p.parseValues(p.buf[begin:x.end-s.Begin], at, rows, x)
}

// attributesOf reads the attributes of the series of a segment.
func (f *file) attributesOf(x segment) ([][]byte, error) {
	head := make([]byte, x.headBytes)
	n, err := f.ReadAt(head, x.head)
	if err != nil {
		return nil, err
	}
	cells, end := splitHead(head[:n], len(f.attributes))
	if int64(end) != x.headBytes {
		return nil, f.changed()
	}
	return cells, nil
}

// storeAttribute stores an attribute in rows from at on.
func (p *parser) storeAttribute(v *lines.Values, i int, cell []byte, at, rows int64, x segment) error {
	ok := true
	switch v.Op {
	case lines.Text:
		if err := source.CheckText(cell, v.Role, x.series); err != nil {
			return p.locate(err, p.file.attributes[i].name, x)
		}
		v.SetText(at, cell, cell)
		repeat(v.I32[at : at+rows])
	case lines.Int64, lines.Item:
		v.I64[at], ok = textvalue.ParseInt(bytes.TrimSpace(cell))
		repeat(v.I64[at : at+rows])
	case lines.Time:
		start, isTime := parseStart(string(cell))
		times := v.I64[at : at+rows]
		times[0], ok = start.Unix(), isTime
		repeat(times)
		if ok && !toUnit(times, v.Unit) {
			return p.valueError(p.file.attributes[i].name, cell,
				"does not fit 64 bits of "+textvalue.Units[v.Unit], hintTime, x)
		}
	case lines.Float64:
		v.F64[at], ok = textvalue.ParseFloat(bytes.TrimSpace(cell))
		repeat(v.F64[at : at+rows])
	case lines.Float32:
		number, isNumber := textvalue.ParseFloat(bytes.TrimSpace(cell))
		if ok = isNumber; ok && !v.SetFloat32(at, number) {
			return p.valueError(p.file.attributes[i].name, cell, "does not fit float32", column.HintWider, x)
		}
		repeat(v.F32[at : at+rows])
	}
	if !ok {
		return p.changed() // the scan has checked it
	}
	return nil
}

// storeTimes stores the times of the values of a segment in rows from at on.
func (p *parser) storeTimes(cell []byte, at, rows int64, x segment) error {
	start, ok := parseStart(string(cell))
	switch times := p.times.I64[at : at+rows]; {
	case !ok:
		return p.changed()
	case !p.step.fits(start, x.first+rows):
		return p.valueError(startName, cell, "leads to times after the year 9999", hintTime, x)
	default:
		p.step.fill(times, start, x.first)
		if !toUnit(times, p.times.Unit) {
			return p.valueError(startName, cell,
				"leads to a time that does not fit 64 bits of "+textvalue.Units[p.times.Unit], hintTime, x)
		}
	}
	return nil
}

// repeat sets all elements to the first one.
func repeat[T layout.Native](values []T) {
	for i := range values {
		values[i] = values[0]
	}
}

// parseValues stores the values of a segment in rows from at on.
func (p *parser) parseValues(text []byte, at, rows int64, x segment) error {
	for row := at; row < at+rows; row++ {
		if len(text) == 0 {
			return p.notANumber(nil, x)
		}
		number, next, ok := numerals.Float(text[:cap(text)], 0, '.')
		if !ok || next >= len(text) || text[next] != ',' {
			end := bytes.IndexByte(text, ',')
			if next = end; end < 0 {
				end, next = len(text), len(text)-1
			}
			if number, ok = parseValue(bytes.TrimSpace(text[:end])); !ok {
				return p.notANumber(text[:end], x)
			}
		}
		if p.numbers.Op == lines.Float64 {
			p.numbers.F64[row] = number
		} else if !p.numbers.SetFloat32(row, number) {
			return p.valueError(valueName, bytes.Trim(text[:next+1], ", \r\n"), "does not fit float32",
				column.HintWider, x)
		}
		text = text[next+1:]
	}
	if len(bytes.TrimSpace(text)) > 0 {
		return p.changed()
	}
	return nil
}

// parseValue parses a value without spaces around it.
func parseValue(text []byte) (v float64, ok bool) {
	switch string(text) {
	case "?", "NaN":
		return column.NaN, true
	}
	return textvalue.ParseFloat(text)
}

// notANumber is the error for a value.
func (p *parser) notANumber(text []byte, x segment) error {
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
		return p.valueError(valueName, nil, "a value is empty", "write ? for a missing value", x)
	case bytes.IndexByte(text, ':') >= 0:
		return p.valueError(valueName, text, "has a colon, so that the line has more attributes than the "+
			"lines @attribute say", "separate attributes and values with colons, and write no colon in them", x)
	}
	return p.valueError(valueName, text, "is not a number", "write ? for a missing value", x)
}

// valueError is the error for a value or an attribute of a series.
func (f *file) valueError(name string, text []byte, reason, hint string,
	x segment) *loaderr.SourceError {
	return &loaderr.SourceError{Path: f.Path(), Column: name, Row: x.series + 1, Line: x.line,
		Text: string(text[:min(len(text), 80)]), Reason: reason, Hint: hint}
}

// locate adds the column and the line to an error about a series.
func (f *file) locate(err error, name string, x segment) error {
	if e := (*loaderr.SourceError)(nil); errors.As(err, &e) {
		e.Path, e.Column, e.Line = f.Path(), name, x.line
	}
	return err
}

// changed is the error for a file with other values than the scan has found.
func (f *file) changed() error {
	return &loaderr.SourceError{Path: f.Path(), Reason: "the file was changed while it was loaded",
		Hint: loaderr.HintChanged}
}
