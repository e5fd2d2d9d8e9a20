// Package text reads CSV and TSV files.
//
// count_rows.go counts the rows of blocks in parallel and divides the file into spans of whole
// rows. infer.go infers the type of each column from its first cells. Several workers parse the
// spans: parse.go goes through rows and cells, column_parser.go stores the values of one column,
// and split.go splits rows into cells. Plain numbers are parsed by package numerals, or by
// fast_numbers.go.
//
// # Caveats
//
// A cell further down may need a wider type than those before it. The reader then returns a
// [source.WidenError], and the load reads the file again.
//
// A line feed inside quotes does not end a row, so the meaning of a block depends on all blocks
// before it. A quote that is not closed therefore moves the borders of all rows after it; the
// parser reports the first row that it cannot split.
package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/internal/numerals"
	"github.com/tensorcache/tensorcache/internal/pagecache"
	"github.com/tensorcache/tensorcache/layout"
)

// csvFile reads a file of delimited text as RFC 4180 and encoding/csv define it: with quotes, CRLF
// and a byte order mark. Empty lines are skipped. The first row names the columns unless the
// dialect has no header.
type csvFile struct {
	source.Settings
	file               pagecache.File
	name               string
	delim              byte
	header             []string
	size               int64
	dataOffset         int64 // file offset of the first row
	line0              int64 // lines before that
	spans              []source.Span
	rows               int64
	sourceBytesPerByte float64 // bytes of the source for each byte of the text
}

// Open reads the header and counts the rows. name is the file's name before compression, if it was
// compressed. Closing the reader closes f; if Open returns an error, the caller closes f.
func Open(path, name string, f *os.File, w source.Settings) (source.Reader, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, files.AsSourceError(path, err)
	}
	c := &csvFile{
		Settings:           w,
		file:               pagecache.File{File: f},
		name:               path,
		delim:              ',',
		size:               st.Size(),
		sourceBytesPerByte: 1,
	}
	if source, err := w.AllowedRoots.StatFile(path); err == nil && source.Size() != c.size {
		c.sourceBytesPerByte = float64(source.Size()) / float64(max(1, c.size))
	}
	if w.Text.Delimiter != 0 {
		c.delim = w.Text.Delimiter
	} else if strings.EqualFold(filepath.Ext(name), ".tsv") {
		c.delim = '\t'
	}
	if c.delim == w.Text.Decimal {
		return nil, textvalue.EqualMarks(string(w.Text.Decimal))
	}
	if err := c.readHeader(); err != nil {
		return nil, err
	}
	if err := c.countRows(); err != nil {
		return nil, err
	}
	if c.rows == 0 && bytes.IndexByte([]byte(strings.Join(c.header, "")), '\r') >= 0 {
		return nil, &loaderr.SourceError{
			Path:   path,
			Reason: "ends its lines with carriage returns alone",
			Hint:   "save it with line feeds, as all but very old programs do",
		}
	}
	if c.rows == 0 {
		return nil, &loaderr.SourceError{
			Path:   path,
			Reason: "has a header but no rows",
			Hint:   loaderr.HintEmpty,
		}
	}
	return c, nil
}

func (c *csvFile) Path() string    { return c.name }
func (c *csvFile) Names() []string { return c.header }
func (c *csvFile) Rows() int64     { return c.rows }
func (c *csvFile) Close() error    { return c.file.Close() }

// readHeader reads the names of the columns and the offset of the first row.
func (c *csvFile) readHeader() error {
	for size := int64(64 << 10); ; size *= 4 {
		head := make([]byte, min(size, c.size))
		n, err := c.file.ReadAt(head, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return files.AsSourceError(c.name, err)
		}
		head = head[:n]
		begin := 0
		if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
			begin = 3
		}
		whole := int64(n) >= c.size
		if whole && (n == 0 || head[n-1] != '\n') {
			head = append(head, '\n')
		}
		s := splitter{delim: c.delim, buf: head, at: begin}
		s.skipEmptyLines()
		cells, err := s.nextRow(nil)
		if errors.Is(err, errBufferEnd) && !whole && size < source.MaxRecordBytes {
			continue
		}
		line := int64(bytes.Count(head[:min(s.start, len(head))], []byte{'\n'})) + 1
		if errors.Is(err, errBufferEnd) {
			if s.skipEmptyLines(); s.at >= len(head) {
				return &loaderr.SourceError{
					Path:   c.name,
					Reason: "holds nothing but empty lines",
					Hint:   loaderr.HintEmpty,
				}
			}
			err = errUnclosedQuote
		}
		if err != nil {
			return &loaderr.SourceError{
				Path:   c.name,
				Line:   line,
				Reason: "the header " + err.Error(),
				Hint:   hintQuotes,
			}
		}
		if !c.Text.Header {
			c.dataOffset, c.line0 = int64(begin), 0
			for i := range cells {
				c.header = append(c.header, fmt.Sprintf("c%d", i))
			}
			return nil
		}
		c.dataOffset = min(int64(s.at), c.size)
		c.line0 = int64(bytes.Count(head[:s.at], []byte{'\n'}))
		return c.nameColumns(cells, line)
	}
}

// nameColumns sets the names of the columns from the cells of the header. It refuses a header of
// numbers, which is a first row of values.
func (c *csvFile) nameColumns(cells []cell, line int64) error {
	numbers := 0
	for _, cell := range cells {
		name := string(cell.text())
		if !utf8.ValidString(name) {
			return &loaderr.SourceError{
				Path:   c.name,
				Line:   line,
				Text:   name,
				Reason: "is not UTF-8",
				Hint:   "save the file as UTF-8",
			}
		}
		if _, ok := c.Text.Float(cell.trimmed()); ok {
			numbers++
		}
		c.header = append(c.header, name)
	}
	if numbers == len(cells) {
		return &loaderr.SourceError{
			Path:   c.name,
			Line:   line,
			Text:   c.header[0],
			Reason: "is a number, want a header line with the names of the columns",
			Hint:   "put the names into the first line, or load it with --no-header",
		}
	}
	return nil
}

// lineOf returns the line number of a byte of a buffer. before is the number of lines before the
// buffer.
func (c *csvFile) lineOf(at int, buf []byte, before int64) int64 {
	return before + int64(bytes.Count(buf[:at], []byte{'\n'})) + 1
}

// cellError returns the error for a cell that its column cannot hold. row counts from 0.
func (c *csvFile) cellError(
	col column.Column, role layout.Role, x cell, row, line int64, reason string,
) error {
	e := &loaderr.SourceError{
		Path:   c.name,
		Column: col.Name,
		Text:   string(x.text()),
		Row:    row + 1,
		Line:   line,
		Reason: reason,
	}
	switch {
	case !utf8.ValidString(e.Text):
		e.Reason, e.Hint = "is not UTF-8", "save the file as UTF-8"
	case reason == reasonTime:
		e.Hint = textvalue.TimeHint(e.Text)
	case reason == reasonInteger:
		e.Hint = "if these are times, say how they are written with --time-format"
	case reason == reasonMixed || reason == reasonText:
		e.Hint = fmt.Sprintf(
			"name the words for a missing value with --na, or load all cells as text with --dtype %s=text", col.Name)
	case reason == reasonZone:
		e.Hint = "write a zone in every cell or in none"
	case reason == reasonFormat:
		e.Hint = "give the format of all cells, or correct the cell"
	case reason == reasonNarrow:
		e.Hint = column.HintWider
	case reason == source.ReasonItem || reason == source.ReasonNoTime:
		e.Hint = loaderr.HintDropRows
	case role == layout.RoleValue && reason == reasonNumber:
		e.Hint = "if it means a missing value, name it with --na; otherwise correct the cell, or leave the column out with --columns"
	case role == layout.RoleValue:
		e.Hint = "correct the cell, or leave the column out with --columns"
	}
	if e.Text == "" {
		e.Reason = "the cell " + e.Reason
	}
	return e
}

// ReadRows parses the spans in parallel. If a cell needs a wider type, it returns a
// [source.WidenError].
func (c *csvFile) ReadRows(ctx context.Context, to []source.Target, m *progress.Meter) error {
	parsers := make([]*csvParser, c.Workers)
	var mu sync.Mutex
	var wider *source.WidenError
	err := parallel.For(ctx, c.Workers, len(c.spans), c.name, func(worker, i int) error {
		p := parsers[worker]
		if p == nil {
			p = newCSVParser(c, to)
			parsers[worker] = p
		}
		if err := p.parseSpan(c.spans[i]); err != nil {
			return err
		}
		m.Rows.Add(c.spans[i].Rows)
		m.Bytes.Add(int64(c.sourceBytesPerByte * float64(c.spans[i].End-c.spans[i].Begin)))
		if !p.widened {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		wider = wider.Merge(&source.WidenError{Columns: slices.Clone(p.types)})
		p.widened = false
		if i < len(c.spans)/8 {
			return wider // restarting now costs less than parsing the remaining spans
		}
		return nil
	})
	if err == nil && wider != nil {
		return wider
	}
	return err
}

// Line returns the line in which a row begins, 0 if it cannot be found.
func (c *csvFile) Line(row int64) int64 {
	i := sort.Search(len(c.spans),
		func(i int) bool { return c.spans[i].Row0+c.spans[i].Rows > row })
	if i == len(c.spans) {
		return 0
	}
	s := c.spans[i]
	buf, err := c.read(nil, s)
	if err != nil {
		return 0
	}
	x := splitter{delim: c.delim, buf: buf}
	for r := s.Row0; ; r++ {
		x.skipEmptyLines()
		if r == row {
			return c.lineOf(x.at, buf, s.Line0)
		}
		if _, err := x.nextRow(nil); err != nil {
			return 0
		}
	}
}

// read reads a span into buf, which it grows if needed, and appends a line feed if the span does
// not end with one.
func (c *csvFile) read(buf []byte, s source.Span) ([]byte, error) {
	n := s.End - s.Begin
	if n > source.MaxRecordBytes {
		return nil, &loaderr.SourceError{
			Path:   c.name,
			Row:    s.Row0 + 1,
			Line:   s.Line0 + 1,
			Reason: fmt.Sprintf("a row takes %d bytes, at most %d", n, source.MaxRecordBytes),
		}
	}
	buf = slices.Grow(buf[:0], int(n)+1+numerals.Pad)[:n]
	if _, err := c.file.ReadAt(buf, s.Begin); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &loaderr.SourceError{
				Path:   c.name,
				Reason: "the file became shorter while it was loaded",
				Hint:   loaderr.HintChanged,
			}
		}
		return nil, files.AsSourceError(c.name, err)
	}
	if n > 0 && buf[n-1] != '\n' {
		buf = append(buf, '\n')
	}
	return buf, nil
}
