package jsonl

import (
	"bytes"

	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// blockCounts are the counts of one block of the file. Every line that is not blank is a row: no
// line feed is inside a value, because JSON escapes those in strings.
type blockCounts struct {
	feeds      int64 // line feeds
	last       int64 // file offset after the last one
	rows       int64 // rows between the first line feed and the last
	head, tail bool  // there is more than white space before the first, and after the last
}

// countRows counts the rows in parallel and divides the file into spans.
func (f *file) countRows() error {
	counts := make([]blockCounts, f.Blocks(f.begin))
	err := f.ForBlocks(f.begin, 0, func(i int, buf []byte, _ int, begin int64) {
		counts[i] = countBlock(buf, begin)
	})
	if err != nil {
		return err
	}
	at := source.Span{Begin: f.begin}
	var line int64
	partial := false // the line that begins before the block is a row
	for _, t := range counts {
		partial = partial || t.head
		if t.feeds == 0 {
			continue
		}
		line += t.feeds
		at.End, at.Rows = t.last, t.rows
		if partial {
			at.Rows++
		}
		f.AddSpan(at)
		at = source.Span{Begin: at.End, Row0: at.Row0 + at.Rows, Line0: line}
		partial = t.tail
	}
	if partial {
		at.End, at.Rows = f.Size, 1
		f.AddSpan(at)
	}
	return nil
}

// countBlock counts a block at a file offset.
func countBlock(buf []byte, offset int64) (t blockCounts) {
	i := bytes.IndexByte(buf, '\n')
	if i < 0 {
		t.head = !isBlank(buf)
		return t
	}
	t.head, t.feeds = !isBlank(buf[:i]), 1
	for i++; ; {
		n := bytes.IndexByte(buf[i:], '\n')
		if n < 0 {
			break
		}
		if !isBlank(buf[i : i+n]) {
			t.rows++
		}
		t.feeds++
		i += n + 1
	}
	t.last, t.tail = offset+int64(i), !isBlank(buf[i:])
	return t
}

// isBlank reports whether a line, or a part of one, is white space.
func isBlank(b []byte) bool {
	for _, c := range b {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}
