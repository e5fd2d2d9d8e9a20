package text

import (
	"context"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/source/lines"
	"github.com/tensorcache/tensorcache/layout"
)

// ReadRows parses the spans in parallel.
func (f *seriesFile) ReadRows(ctx context.Context, to []source.Target, m *progress.Meter) error {
	return f.values.Parse(ctx, func() lines.SpanParser { return newSeriesParser(f, to) }, m)
}

// seriesParser parses spans into the columns of the names and of the values.
type seriesParser struct {
	csvParser
	file   *seriesFile
	names  []columnParser // by position in seriesFile.items
	values columnParser
	cells  []cell
}

func newSeriesParser(f *seriesFile, to []source.Target) *seriesParser {
	p := &seriesParser{csvParser: csvParser{file: f.csvFile}, file: f,
		names: make([]columnParser, len(f.items))}
	for i, t := range to {
		p.types = append(p.types, t.Column)
		if parser := (columnParser{lines.NewValues(i, t)}); t.Index < len(f.items) {
			p.names[t.Index] = parser
		} else {
			p.values = parser
		}
	}
	return p
}

// ParseSpan parses one span, whose rows are values.
func (p *seriesParser) ParseSpan(s source.Span) (err error) {
	from := p.file.spanAt(s.Begin)
	if p.buf, err = p.file.Read(p.buf, from); err != nil {
		return err
	}
	for i := range p.names {
		p.names[i].BeginSpan(s)
	}
	p.values.BeginSpan(s)
	x := splitter{delim: p.file.delim, buf: p.buf}
	at := s.Row0
	for row := from.Row0; row < from.Row0+from.Rows; row++ {
		if p.cells, err = p.file.nextRow(&x, &p.csvParser, from, row, p.cells[:0]); err != nil {
			return err
		}
		n := int64(p.file.length(p.cells))
		if at+n > s.Row0+s.Rows {
			break
		}
		if err := p.parseSeries(at, n, row); err != nil {
			return withLine(err, p.buf, x.start, from)
		}
		at += n
	}
	if at != s.Row0+s.Rows {
		return &loaderr.SourceError{Path: p.file.Path(),
			Reason: "changed while it was loaded", Hint: loaderr.HintChanged}
	}
	for i := range p.names {
		p.names[i].EndSpan(s)
	}
	p.values.EndSpan(s)
	return nil
}

// parseSeries stores the n values of a row, and its names beside each, from row at on.
func (p *seriesParser) parseSeries(at, n, row int64) error {
	for k := range p.names {
		col, x := &p.names[k], p.cells[p.file.items[k]]
		if reason := p.parseCell(col, x, at); reason != "" {
			return p.file.cellError(p.types[col.Target], col.Role, x, row, 0, reason)
		}
		first := at - col.SpanRow
		switch col.Op {
		case lines.Text:
			fill(col.I32[first : first+n])
		case lines.Item:
			fill(col.I64[first : first+n])
		}
	}
	var missing cell
	for k, i := range p.file.series[:n] {
		x := missing
		if i < len(p.cells) {
			x = p.cells[i]
		}
		if reason := p.parseCell(&p.values, x, at+int64(k)); reason != "" {
			c := p.types[p.values.Target]
			c.Name = p.file.header[i]
			return p.file.cellError(c, layout.RoleValue, x, row, 0, reason)
		}
	}
	return nil
}

// fill sets all elements to the first one.
func fill[T int32 | int64](values []T) {
	for i := range values {
		values[i] = values[0]
	}
}
