// Package text reads CSV and TSV files.
//
// count_rows.go counts the rows of blocks in parallel and divides the file into spans of whole
// rows. infer.go infers the type of each column from its first cells. Several workers parse the
// spans: parse.go goes through rows and cells, split_cells.go splits rows into cells, and package
// numerals parses plain numbers. Package lines reads the spans and stores the values. first_line.go,
// comments.go and lines_above.go are about lines that are no rows, cell_errors.go about cells that no
// column can store.
//
// # Caveats
//
// A cell further down may need a wider type than those before it. The reader then returns a
// [source.WidenError], and the load reads the file again.
//
// A line feed inside quotes does not end a row, so the meaning of a block depends on all blocks
// before it. A quote that is not closed therefore moves the borders of all rows after it; the
// parser reports the first row that it cannot split.
//
// A first column without a name that counts rows is left out: see index_column.go.
package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/ingest/source/lines"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
)

// csvFile reads a file of delimited text as RFC 4180 and encoding/csv define it: with quotes, CRLF
// and a byte order mark. Unlike encoding/csv, it keeps CRLF in a quoted cell. Empty lines are
// skipped. The first row names the columns unless the dialect has no header.
type csvFile struct {
	lines.File
	delim        byte
	header       []string
	unnamedFirst bool  // the first column has no name, as that of an index
	begin        int64 // file offset of the header, or of the first row without one
	beginLine    int64 // lines before that
	dataOffset   int64 // file offset of the first row
	line0        int64 // lines before that
}

// Open reads the header and counts the rows. name is the file's name before compression, if it was
// compressed. encoding is the one that was found for the file, "" if it is UTF-8, or if the options
// name it. Closing the reader closes f; if Open returns an error, the caller closes f.
func Open(path, name, encoding string, f *files.File, w source.Settings) (source.Reader, error) {
	if w.Text.Comment == 0 {
		return open(path, name, encoding, f, w)
	}
	plain, err := withoutComments(path, f, w.Text, w.Decompression)
	if err != nil {
		return nil, err
	}
	r, err := open(path, name, encoding, plain, w)
	if err != nil {
		return nil, errors.Join(err, plain.Close())
	}
	return r, f.Close()
}

func open(path, name, encoding string, f *files.File, w source.Settings) (source.Reader, error) {
	t, err := lines.Open(path, f, w)
	if err != nil {
		return nil, err
	}
	c := &csvFile{File: t}
	if err := c.refuseZeros(); err != nil {
		return nil, err
	}
	if err := c.findFirstLine(); err != nil {
		return nil, err
	}
	if err := c.findDialect(name, encoding); err != nil {
		return nil, err
	}
	if c.delim == w.Text.Decimal {
		return nil, textvalue.EqualMarks(string(w.Text.Decimal), w.Text.Thousands)
	}
	if c.delim == w.Text.Comment {
		return nil, textvalue.CommentError(string(w.Text.Comment))
	}
	if err := c.readHeader(); err != nil {
		return nil, err
	}
	if err := c.countRows(); err != nil {
		return nil, err
	}
	if c.Rows() == 0 && strings.Contains(strings.ReplaceAll(strings.Join(c.header, ""), "\r\n", ""), "\r") {
		return nil, &loaderr.SourceError{
			Path:   path,
			Reason: "ends its lines with carriage returns alone",
			Hint:   "save it with line feeds, as all but very old programs do",
		}
	}
	if c.Rows() == 0 {
		return nil, &loaderr.SourceError{
			Path:   path,
			Reason: "has a header but no rows",
			Hint:   loaderr.HintEmpty,
		}
	}
	if c.hasIndex() {
		return withoutIndex{c}, nil
	}
	return c, nil
}

// Names returns the names of the columns.
func (c *csvFile) Names() []string { return c.header }

// readHeader reads the names of the columns and the offset of the first row.
func (c *csvFile) readHeader() error {
	for size := int64(64 << 10); ; size *= 4 {
		head := make([]byte, min(size, c.Size-c.begin))
		n, err := c.ReadAt(head, c.begin)
		if err != nil {
			return err
		}
		head = head[:n]
		whole := c.begin+int64(n) >= c.Size
		if whole && (n == 0 || head[n-1] != '\n') {
			head = append(head, '\n')
		}
		s := splitter{delim: c.delim, buf: head}
		s.skipEmptyLines()
		cells, err := s.nextRow(nil)
		if errors.Is(err, errBufferEnd) && !whole && size < source.MaxRecordBytes {
			continue
		}
		line := c.beginLine + int64(bytes.Count(head[:min(s.start, len(head))], []byte{'\n'})) + 1
		if errors.Is(err, errBufferEnd) {
			if s.skipEmptyLines(); s.at >= len(head) {
				reason := "holds nothing but empty lines"
				if c.beginLine > 0 || c.Text.Comment != 0 {
					reason = "has no line besides empty ones and those that are skipped"
				}
				return &loaderr.SourceError{Path: c.Path(), Reason: reason, Hint: loaderr.HintEmpty}
			}
			err = errUnclosedQuote
		}
		if err != nil {
			return &loaderr.SourceError{
				Path:   c.Path(),
				Line:   line,
				Reason: "the header " + err.Error(),
				Hint:   hintQuotes,
			}
		}
		if !c.Text.Header {
			c.dataOffset, c.line0 = c.begin, c.beginLine
			for i := range cells {
				c.header = append(c.header, nameOf(i))
			}
			return nil
		}
		c.dataOffset = min(c.begin+int64(s.at), c.Size)
		c.line0 = c.beginLine + int64(bytes.Count(head[:s.at], []byte{'\n'}))
		if next, err := s.nextRow(nil); len(cells) == 1 || err == nil && len(next) > len(cells) {
			if err := c.checkLinesAbove(); err != nil {
				return err
			}
		}
		return c.nameColumns(cells, line)
	}
}

// skippedNames returns what to do if the names are in a line that options skip, "" if they skip none.
func (c *csvFile) skippedNames(line int64) string {
	hint := fmt.Sprintf("if the names are in line %d, load with ", line)
	switch {
	case line == 0 || c.Text.Skip == 0 && c.Text.Comment == 0:
		return ""
	case c.Text.Comment == 0:
		return hint + loaderr.Option("skip", line-1)
	case line == 1 && c.Text.Skip == 0:
		return hint[:len(hint)-1] + "out `comment`"
	}
	return hint + loaderr.Option("skip", line-1) + " and without `comment`"
}

// nameOf returns the name of a column of a file without a header.
func nameOf(column int) string { return fmt.Sprintf("c%d", column) }

// nameColumns sets the names of the columns from the cells of the header. It refuses a header of
// numbers, or of numbers and times, which is a first row of values.
func (c *csvFile) nameColumns(cells []cell, line int64) error {
	numbers, values := -1, 0
	for i, cell := range cells {
		name := string(cell.text())
		c.unnamedFirst = c.unnamedFirst || i == 0 && name == ""
		if !utf8.ValidString(name) {
			return &loaderr.SourceError{
				Path:   c.Path(),
				Line:   line,
				Text:   name,
				Reason: "is not UTF-8",
				Hint:   hintEncoding(name),
			}
		}
		if _, ok := c.Text.Float(cell.trimmed()); ok && numbers < 0 {
			numbers = i
		}
		if c.isNumberOrTime(cell) {
			values++
		}
		c.header = append(c.header, column.NameAt(name, i))
	}
	if numbers >= 0 && values == len(cells) {
		hint := "put the names into the first line, or load it with `no_header=true`"
		if skipped := c.skippedNames(line - 1); skipped != "" {
			hint = skipped + "; otherwise load with `no_header=true`"
		}
		return &loaderr.SourceError{
			Path:   c.Path(),
			Line:   line,
			Text:   c.header[numbers],
			Reason: "is a number, want a header line with the names of the columns",
			Hint:   hint,
		}
	}
	return nil
}

// ReadRows parses the spans in parallel. If a cell needs a wider type, it returns a
// [source.WidenError].
func (c *csvFile) ReadRows(ctx context.Context, to []source.Target, m *progress.Meter) error {
	return c.Parse(ctx, func() lines.SpanParser { return newCSVParser(c, to) }, m)
}

// Line returns the line in which a row begins, 0 if it cannot be found.
func (c *csvFile) Line(row int64) int64 {
	s, ok := c.SpanOf(row)
	if !ok {
		return 0
	}
	buf, err := c.Read(nil, s)
	if err != nil {
		return 0
	}
	x := splitter{delim: c.delim, buf: buf}
	for r := s.Row0; ; r++ {
		x.skipEmptyLines()
		if r == row {
			return lines.LineOf(buf, x.at, s.Line0)
		}
		if _, err := x.nextRow(nil); err != nil {
			return 0
		}
	}
}
