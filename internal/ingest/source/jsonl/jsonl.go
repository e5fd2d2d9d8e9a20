// Package jsonl reads JSON Lines: one flat JSON object a row.
//
// count_rows.go counts the rows of blocks in parallel and divides the file into spans of whole
// rows. sample.go finds the columns in the first rows and infers their types. Several workers parse
// the spans: parse.go goes through the keys of rows, store.go stores their values, types.go widens
// the types of columns, and scan.go and decode.go know the grammar of JSON. Package lines reads the
// spans and writes the values.
//
// A worker expects that the keys of a row follow each other as in the row before: for each column
// it compares the bytes between two values with those that it has seen there, and scans the key
// only if they differ.
//
// # Caveats
//
// A value further down may need a wider type than those before it. The reader then returns a
// [source.WidenError], and the load reads the file again.
//
// The keys of the first rows are the columns, unless [source.Selective.Select] is called.
package jsonl

import (
	"bytes"
	"context"
	"sync/atomic"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/source/lines"
)

// maxKeys is the largest number of different keys in the first rows. It limits the memory for them.
const maxKeys = 1 << 14

// file is the reader of a JSON Lines file.
type file struct {
	lines.File
	begin    int64          // file offset of the first line
	names    []string       // keys of the first rows, then selected keys that appear later
	index    map[string]int // of names
	selected bool           // other keys are ignored
	tooMany  bool           // the first rows have more than maxKeys keys
}

// Is reports whether a file begins with an object that has a key.
func Is(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimPrefix(head, []byte(byteOrderMark)), []byte(`{"`))
}

// byteOrderMark is U+FEFF, which may be before the first line.
const byteOrderMark = "\ufeff"

// Open counts the rows and finds the keys of the first ones. It returns nil without an error for a
// binary file. Closing the reader closes f; if Open returns no reader, the caller closes f.
func Open(path string, f *files.File, s source.Settings) (source.Reader, error) {
	t, err := lines.Open(path, f, s)
	if err != nil {
		return nil, err
	}
	j := &file{File: t, index: map[string]int{}}
	head := make([]byte, 512)
	n, err := j.ReadAt(head, 0)
	if err != nil {
		return nil, err
	}
	head = head[:n]
	if bytes.IndexByte(head, 0) >= 0 || bytes.HasPrefix(head, []byte("\xff\xfe")) ||
		bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return nil, nil
	}
	if bytes.HasPrefix(head, []byte(byteOrderMark)) {
		j.begin = int64(len(byteOrderMark))
	}
	if err := j.countRows(); err != nil {
		return nil, err
	}
	if j.Rows() == 0 {
		return nil, &loaderr.SourceError{
			Path: path, Reason: "holds nothing but empty lines", Hint: loaderr.HintEmpty,
		}
	}
	if err := j.findNames(); err != nil {
		return nil, err
	}
	return j, nil
}

// Names returns the keys of the first rows and the selected keys, in the order in which they appear
// at first.
func (f *file) Names() []string { return f.names }

// Select makes the reader ignore all other keys, and searches the file for those of names that the
// first rows do not have.
func (f *file) Select(names []string) error {
	f.selected = true
	late := map[string]int{} // index in names
	for i, name := range names {
		if _, known := f.index[name]; !known {
			late[name] = i
		}
	}
	if len(late) == 0 {
		return nil
	}
	found := make([]atomic.Bool, len(names))
	bufs := make([][]byte, f.Workers)
	err := parallel.For(context.Background(), f.Workers, len(f.Spans), f.Path(),
		func(worker, i int) (err error) {
			visit := func(key []byte, _ value) *fault {
				if n, ok := late[string(key)]; ok {
					found[n].Store(true)
				}
				return nil
			}
			bufs[worker], err = f.scanSpan(bufs[worker], f.Spans[i], f.Rows(), visit,
				func() *fault { return nil })
			return err
		})
	if err != nil {
		return err
	}
	for n, name := range names {
		if found[n].Load() {
			f.addName(name)
		}
	}
	return nil
}

// addName adds a column.
func (f *file) addName(name string) {
	f.index[name] = len(f.names)
	f.names = append(f.names, name)
}

// ReadRows parses the spans in parallel. If a value needs a wider type, it returns a
// [source.WidenError].
func (f *file) ReadRows(ctx context.Context, to []source.Target, m *progress.Meter) error {
	return f.Parse(ctx, func() lines.SpanParser { return newParser(f, to) }, m)
}

// Line returns the line of a row, 0 if it cannot be found.
func (f *file) Line(row int64) int64 {
	s, ok := f.SpanOf(row)
	if !ok {
		return 0
	}
	buf, err := f.Read(nil, s)
	if err != nil {
		return 0
	}
	line := s.Line0
	for r := s.Row0; len(buf) > 0; line++ {
		text, rest, _ := bytes.Cut(buf, []byte{'\n'})
		if buf = rest; isBlank(text) {
			continue
		}
		if r == row {
			return line + 1
		}
		r++
	}
	return 0
}

// read reads a span into buf, which it grows if needed. end is the end of the last line; [pad]
// bytes follow it.
func (f *file) read(buf []byte, s source.Span) (padded []byte, end int, err error) {
	if buf, err = f.Read(buf, s); err != nil {
		return nil, 0, err
	}
	end = len(buf)
	return append(buf, make([]byte, pad)...), end, nil
}

// rowError returns the error for the row of a span that begins at start. row counts from 0.
func (f *file) rowError(buf []byte, start int, s source.Span, row int64, bad *fault) error {
	e := &loaderr.SourceError{
		Path: f.Path(), Column: bad.key, Text: bad.text, Row: row + 1,
		Line: lines.LineOf(buf, start, s.Line0), Reason: bad.reason, Hint: bad.hint,
	}
	switch {
	case e.Text == "" && e.Column != "":
		e.Reason = "the value " + bad.reason
	case e.Text == "":
		e.Reason = "the row " + bad.reason
	}
	// The last line of a file without a line feed has got one at the end of the span.
	if bad.atEnd && start+bytes.IndexByte(buf[start:], '\n') == int(s.End-s.Begin) {
		e.Reason, e.Hint = e.Reason+": the file is cut off", loaderr.HintDamaged
	}
	return e
}

// scanSpan calls visit with each key and value of at most n rows of a span, and done after each
// row. It reads the span into buf.
func (f *file) scanSpan(buf []byte, s source.Span, n int64,
	visit func(key []byte, v value) *fault, done func() *fault) ([]byte, error) {
	buf, end, err := f.read(buf, s)
	if err != nil {
		return buf, err
	}
	i := 0
	for row := range min(n, s.Rows) {
		if i = nextRow(buf, i, end); i == end {
			return buf, f.changed()
		}
		next, bad := scanRow(buf, i, visit)
		if bad == nil {
			bad = done()
		}
		if bad != nil {
			return buf, f.rowError(buf, i, s, s.Row0+row, bad)
		}
		i = next
	}
	return buf, nil
}

// nextRow returns the offset of the first line from i on that is not blank, or end.
func nextRow(buf []byte, i, end int) int {
	for i < end {
		if i = skipSpace(buf, i); buf[i] != '\n' {
			return i
		}
		i++
	}
	return end
}

// scanRow calls visit with each key and value of the row at i, until it returns a fault. next is
// the offset of the next line.
func scanRow(buf []byte, i int,
	visit func(key []byte, v value) *fault) (next int, bad *fault) {
	for first := true; ; first = false {
		raw, at, done, bad := keyAt(buf, i, first)
		if bad != nil {
			return i, bad
		}
		if done {
			return rowEnd(buf, at)
		}
		key, _, ok := raw.decoded(nil)
		if !ok {
			return i, faultSurrogate()
		}
		v, end, bad := scanValue(buf, at)
		if bad == nil {
			bad = visit(key, v)
		}
		if bad != nil {
			bad.key = string(key)
			return i, bad
		}
		i = end
	}
}

// changed returns the error of a file with other rows than were counted.
func (f *file) changed() error {
	return &loaderr.SourceError{
		Path: f.Path(), Reason: "the file was changed while it was loaded",
		Hint: loaderr.HintChanged,
	}
}
