// Package lines is what the readers of text files share: a [File], which is divided into spans of
// whole rows that several workers parse, and [Values], which stores the values of a column.
package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/internal/numerals"
)

// File is a text file.
type File struct {
	source.Settings
	Size  int64
	Spans []source.Span

	file               *files.File
	name               string
	rows               int64
	sourceBytesPerByte float64 // bytes of the source for each byte of the text
}

// Open returns a file without spans. f is open, and may be the decompressed copy of the file at
// path.
func Open(path string, f *files.File, s source.Settings) (File, error) {
	st, err := f.Stat()
	if err != nil {
		return File{}, files.AsSourceError(path, err)
	}
	t := File{
		Settings:           s,
		Size:               st.Size(),
		file:               f,
		name:               path,
		sourceBytesPerByte: 1,
	}
	if source, err := s.AllowedRoots.StatFile(path); err == nil && source.Size() != t.Size {
		t.sourceBytesPerByte = float64(source.Size()) / float64(max(1, t.Size))
	}
	return t, nil
}

// Path returns the path of the source.
func (f *File) Path() string { return f.name }

// Rows returns the number of rows of all spans.
func (f *File) Rows() int64 { return f.rows }

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// ReadAt reads into buf until it is full or the file ends. It returns the number of bytes.
func (f *File) ReadAt(buf []byte, at int64) (n int, err error) {
	n, err = f.file.ReadAt(buf, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, files.AsSourceError(f.name, err)
	}
	return n, nil
}

// AddSpan adds a span unless it has no rows.
func (f *File) AddSpan(s source.Span) {
	if s.Rows > 0 {
		f.Spans = append(f.Spans, s)
		f.rows += s.Rows
	}
}

// With returns the same file with other spans.
func (f File) With(spans []source.Span) File {
	f.Spans, f.rows = nil, 0
	for _, s := range spans {
		f.AddSpan(s)
	}
	return f
}

// Blocks returns the number of blocks from an offset on.
func (f *File) Blocks(from int64) int {
	return int((f.Size - from + f.BlockBytes - 1) / f.BlockBytes)
}

// ForBlocks calls count for each block from an offset on, on several workers. buf is the block
// after at most before bytes of the previous block; lead is their number. begin is the file offset
// of the block.
func (f *File) ForBlocks(
	from int64, before int, count func(i int, buf []byte, lead int, begin int64),
) error {
	bufs := make([][]byte, f.Workers)
	return parallel.For(context.Background(), f.Workers, f.Blocks(from), f.name,
		func(worker, i int) error {
			if bufs[worker] == nil {
				bufs[worker] = make([]byte, f.BlockBytes+int64(before))
			}
			begin := from + int64(i)*f.BlockBytes
			lead := int(min(int64(before), begin-from))
			buf := bufs[worker][:lead+int(min(f.BlockBytes, f.Size-begin))]
			if _, err := f.ReadAt(buf, begin-int64(lead)); err != nil {
				return err
			}
			count(i, buf, lead, begin)
			return nil
		})
}

// ForSpans calls scan for each span, on several workers. buf is the last result of the worker.
func (f *File) ForSpans(scan func(i int, buf []byte) ([]byte, error)) error {
	bufs := make([][]byte, f.Workers)
	return parallel.For(context.Background(), f.Workers, len(f.Spans), f.name,
		func(worker, i int) (err error) {
			bufs[worker], err = scan(i, bufs[worker])
			return err
		})
}

// SpanParser parses spans into the targets. Each worker has its own.
type SpanParser interface {
	ParseSpan(s source.Span) error
	// Widened returns the columns of the targets with the types that the rows since the last call
	// need. It returns nil if the targets have these types.
	Widened() []column.Column
}

// Parse parses the spans in parallel. If a value needs a wider type, it returns a
// [source.WidenError].
func (f *File) Parse(ctx context.Context, newParser func() SpanParser, m *progress.Meter) error {
	parsers := make([]SpanParser, f.Workers)
	var mu sync.Mutex
	var wider *source.WidenError
	err := parallel.For(ctx, f.Workers, len(f.Spans), f.name, func(worker, i int) error {
		if parsers[worker] == nil {
			parsers[worker] = newParser()
		}
		if err := parsers[worker].ParseSpan(f.Spans[i]); err != nil {
			return err
		}
		m.Rows.Add(f.Spans[i].Rows)
		m.Bytes.Add(int64(f.sourceBytesPerByte * float64(f.Spans[i].End-f.Spans[i].Begin)))
		columns := parsers[worker].Widened()
		if columns == nil {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		wider = wider.Merge(&source.WidenError{Columns: columns})
		if i < len(f.Spans)/8 {
			return wider // restarting now costs less than parsing the remaining spans
		}
		return nil
	})
	if err == nil && wider != nil {
		return wider
	}
	return err
}

// SpanOf returns the span with a row. ok is false if there is none.
func (f *File) SpanOf(row int64) (s source.Span, ok bool) {
	i := sort.Search(len(f.Spans),
		func(i int) bool { return f.Spans[i].Row0+f.Spans[i].Rows > row })
	if i == len(f.Spans) {
		return s, false
	}
	return f.Spans[i], true
}

// Read reads a span into buf, which it grows if needed, and appends a line feed if the span does
// not end with one. The result has [numerals.Pad] bytes of capacity after its end.
func (f *File) Read(buf []byte, s source.Span) ([]byte, error) {
	n := s.End - s.Begin
	if n > source.MaxRecordBytes {
		return nil, &loaderr.SourceError{
			Path:   f.name,
			Row:    s.Row0 + 1,
			Line:   s.Line0 + 1,
			Reason: fmt.Sprintf("a row takes %d bytes, at most %d", n, source.MaxRecordBytes),
			Hint:   "end each row with a line feed, and leave long texts out of the file",
		}
	}
	buf = slices.Grow(buf[:0], int(n)+1+numerals.Pad)[:n]
	if read, err := f.ReadAt(buf, s.Begin); err != nil {
		return nil, err
	} else if read < len(buf) {
		return nil, &loaderr.SourceError{
			Path:   f.name,
			Reason: "the file became shorter while it was loaded",
			Hint:   loaderr.HintChanged,
		}
	}
	if n > 0 && buf[n-1] != '\n' {
		buf = append(buf, '\n')
	}
	return buf, nil
}

// LineOf returns the line number of a byte of a buffer. before is the number of lines before the
// buffer.
func LineOf(buf []byte, at int, before int64) int64 {
	return before + int64(bytes.Count(buf[:at], []byte{'\n'})) + 1
}
