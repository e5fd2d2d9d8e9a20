package text

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/source/lines"
	"github.com/tensorcache/tensorcache/layout"
)

// seriesFile reads a file with one series a row. Its rows are the values of the first series, then
// those of the second, and so on. A series ends with its last cell that is not missing; its line
// may end there, too.
//
// Describe parses the whole file, to count the values and to find their type. ReadRows parses it
// again.
type seriesFile struct {
	*csvFile
	values    lines.File      // the spans of the file, with their values as rows
	items     []int           // columns of the file that name the series
	series    []int           // columns of the file with the values, in order
	isDefault bool            // no option names items, so that the first one must be text
	types     []column.Column // of items
	whole     bool            // all values are integers, and none is missing
}

// MeltRows returns a reader of the values of each row. Closing either closes the file.
func (c *csvFile) MeltRows(items, series []int, isDefault bool) source.Reshaped {
	return &seriesFile{csvFile: c, items: items, series: series, isDefault: isDefault}
}

// MeltRows returns a reader of the values of each row.
func (f withoutIndex) MeltRows(items, series []int, isDefault bool) source.Reshaped {
	shift := func(columns []int) (out []int) {
		for _, c := range columns {
			out = append(out, c+1)
		}
		return out
	}
	return f.csvFile.MeltRows(shift(items), shift(series), isDefault)
}

// Names returns the names of the columns that name the series, and of the column of values.
func (f *seriesFile) Names() []string {
	var out []string
	for _, i := range f.items {
		out = append(out, f.header[i])
	}
	return append(out, column.MeltedValue)
}

// Rows returns the number of values. It is known after Describe.
func (f *seriesFile) Rows() int64 { return f.values.Rows() }

// SourceRows returns the number of rows of the file.
func (f *seriesFile) SourceRows() int64 { return f.csvFile.Rows() }

// SourceRow returns the row of the file with a value.
func (f *seriesFile) SourceRow(value int64) int64 {
	row, _ := f.find(value)
	return row
}

// Line returns the line of the file with a value, 0 if it cannot be found.
func (f *seriesFile) Line(value int64) int64 {
	_, line := f.find(value)
	return line
}

// find returns the row and the line of the file with a value. The line is 0 if it cannot be found.
func (f *seriesFile) find(value int64) (row, line int64) {
	s, ok := f.values.SpanOf(value)
	if !ok {
		return 0, 0
	}
	from := f.spanAt(s.Begin)
	buf, err := f.Read(nil, from)
	if err != nil {
		return from.Row0, 0
	}
	x := splitter{delim: f.delim, buf: buf}
	var cells []cell
	for at := s.Row0; ; row++ {
		x.skipEmptyLines()
		if cells, err = x.nextRow(cells[:0]); err != nil {
			return from.Row0 + row, 0
		}
		if at += int64(f.length(cells)); at > value {
			return from.Row0 + row, lines.LineOf(buf, x.start, from.Line0)
		}
	}
}

// spanAt returns the span of rows of the file that begins at an offset.
func (f *seriesFile) spanAt(begin int64) source.Span {
	i, _ := slices.BinarySearchFunc(f.csvFile.Spans, begin,
		func(s source.Span, begin int64) int { return int(s.Begin - begin) })
	return f.csvFile.Spans[i]
}

// length returns the number of values of a row: all up to the last one that is not missing.
func (f *seriesFile) length(cells []cell) int {
	for n := len(f.series); n > 0; n-- {
		if i := f.series[n-1]; i < len(cells) && !f.Text.IsMissing(cells[i].trimmed()) {
			return n
		}
	}
	return 0
}

// Describe returns the types of the wanted columns.
func (f *seriesFile) Describe(w []column.Want) ([]column.Column, error) {
	f.types = make([]column.Column, len(f.items))
	for i, at := range f.items {
		f.types[i] = column.Column{Name: f.header[at], Inferred: true, Names: true}
	}
	for _, x := range w {
		switch {
		case x.Text && x.Index < len(f.items):
			f.types[x.Index] = column.Column{Name: f.header[f.items[x.Index]],
				Kind: column.KindText}
		case x.Text:
			return nil, &loaderr.OptionError{Field: "dtype", Value: column.MeltedValue + "=text",
				Allowed: "a dtype of numbers for the values of series"}
		}
	}
	if err := f.scan(); err != nil {
		return nil, err
	}
	out := make([]column.Column, len(w))
	for i, x := range w {
		if x.Index < len(f.items) {
			out[i] = f.types[x.Index]
			continue
		}
		out[i] = column.Column{Name: column.MeltedValue, Kind: column.KindFloat64, Inferred: true}
		if f.whole {
			out[i].Kind = column.KindInt64
		}
	}
	return out, nil
}

// spanScan is what a scan finds in one span.
type spanScan struct {
	values      int64
	types       []column.Column
	whole       bool
	first, last []byte // the names of the first and the last series
}

// scan counts the values of each span and finds the types of all columns.
func (f *seriesFile) scan() error {
	scans := make([]spanScan, len(f.csvFile.Spans))
	err := f.ForSpans(func(i int, buf []byte) ([]byte, error) {
		return f.scanSpan(buf, f.csvFile.Spans[i], &scans[i])
	})
	if err != nil {
		return err
	}
	f.whole = true
	spans := slices.Clone(f.csvFile.Spans)
	var values int64
	for i, s := range scans {
		if i > 0 && bytes.Equal(scans[i-1].last, s.first) {
			row := f.csvFile.Spans[i].Row0
			return f.sameNames(s.first, row, f.csvFile.Line(row))
		}
		spans[i].Row0, spans[i].Rows = values, s.values
		values += s.values
		f.whole = f.whole && s.whole
		for k := range f.types {
			f.types[k], _ = column.Widest(f.types[k], s.types[k])
		}
	}
	f.values = f.csvFile.File.With(spans)
	return nil
}

// scanSpan scans one span, which it reads into buf.
func (f *seriesFile) scanSpan(buf []byte, s source.Span, out *spanScan) ([]byte, error) {
	buf, err := f.Read(buf, s)
	if err != nil {
		return buf, err
	}
	out.types, out.whole = slices.Clone(f.types), true
	x := splitter{delim: f.delim, buf: buf}
	p := csvParser{file: f.csvFile, buf: buf} // for its errors
	var cells []cell
	var name []byte
	for row := s.Row0; row < s.Row0+s.Rows; row++ {
		if cells, err = f.nextRow(&x, &p, s, row, cells[:0]); err != nil {
			return buf, err
		}
		name, err = f.scanRow(cells, name[:0], row, out)
		if err != nil {
			return buf, withLine(err, buf, x.start, s)
		}
		out.last = append(out.last[:0], name...)
		if out.first == nil {
			out.first = bytes.Clone(name)
		}
	}
	return buf, nil
}

// withLine adds the line of a row, which begins at a byte of the buffer of a span, to an error.
func withLine(err error, buf []byte, at int, s source.Span) error {
	if e := (*loaderr.SourceError)(nil); errors.As(err, &e) && e.Line == 0 {
		e.Line = lines.LineOf(buf, at, s.Line0)
	}
	return err
}

// scanRow adds a row to the scan. It appends the names of its series to names.
func (f *seriesFile) scanRow(cells []cell, names []byte, row int64, out *spanScan) ([]byte, error) {
	if f.isDefault && row == 0 {
		c, first := column.Column{Inferred: true}, cells[f.items[0]]
		if b := first.trimmed(); f.Text.IsMissing(b) && !f.Text.IsMissingIn(layout.RoleItemID, b) {
			c.Kind = column.KindText // a name such as NA
		} else {
			c, _ = widenColumn(c, first, layout.RoleValue, &f.Text)
		}
		if err := source.CheckNames(f.Path(), f.header[f.items[0]], c); err != nil {
			return names, err
		}
	}
	for k, i := range f.items {
		wider, reason := widenColumn(out.types[k], cells[i], layout.RoleItemID, &f.Text)
		if reason != "" {
			return names, f.cellError(out.types[k], layout.RoleItemID, cells[i], row, 0, reason)
		}
		out.types[k] = wider
		names = append(append(names, cells[i].text()...), 0)
	}
	if bytes.Equal(names, out.last) {
		return names, f.sameNames(names, row, 0)
	}
	n, err := f.scanValues(cells, row, out)
	out.values += int64(n)
	return names, err
}

// scanValues checks the values of a row and returns their number.
func (f *seriesFile) scanValues(cells []cell, row int64, out *spanScan) (n int, err error) {
	if n = f.length(cells); n == 0 {
		return 0, &loaderr.SourceError{
			Path: f.Path(), Row: row + 1, Reason: "the series has no values",
			Hint: "leave the row out, or name the columns of the values with `columns`",
		}
	}
	for _, i := range f.series[:n] {
		if i >= len(cells) {
			out.whole = false
			continue
		}
		b := cells[i].trimmed()
		if f.Text.IsMissing(b) {
			out.whole = false
			continue
		}
		if _, ok := f.Text.Int(b); ok {
			continue
		}
		if _, ok := f.Text.Float(b); !ok {
			return 0, f.cellError(column.Column{Name: f.header[i]}, layout.RoleValue, cells[i], row,
				0, reasonNumber)
		}
		out.whole = false
	}
	return n, nil
}

// nextRow appends the cells of a row, which may be fewer than there are columns, but has those that
// name the series.
func (f *seriesFile) nextRow(
	x *splitter, p *csvParser, s source.Span, row int64, cells []cell,
) ([]cell, error) {
	x.skipEmptyLines()
	cells, err := x.nextRow(cells)
	switch {
	case err == errBufferEnd:
		return nil, p.rowError(s, x.start, row, errUnclosedQuote.Error(), hintQuotes)
	case err != nil:
		return nil, p.rowError(s, x.start, row, err.Error(), hintQuotes)
	case len(cells) > len(f.header):
		hint := "name all columns in the header, or load it with `no_header=true` if it has none"
		if !f.Text.Header {
			hint = "write the longest series first, or a header with as many columns"
		}
		return nil, p.rowError(s, x.start, row,
			fmt.Sprintf("has %s, want at most %d", loaderr.Count(len(cells), "cell"),
				len(f.header)),
			hint)
	}
	for _, i := range f.items {
		if i >= len(cells) {
			return nil, p.rowError(s, x.start, row,
				fmt.Sprintf("has %s, but column %q, which names the series, is number %d",
					loaderr.Count(len(cells), "cell"), f.header[i], i+1),
				loaderr.HintDropRows)
		}
	}
	return cells, nil
}

// sameNames returns the error for two rows, one after the other, of series with the same name.
func (f *seriesFile) sameNames(names []byte, row, line int64) error {
	first, _, _ := bytes.Cut(names, []byte{0})
	return source.SameNames(f.Path(), f.header[f.items[0]], string(first), row, line)
}
