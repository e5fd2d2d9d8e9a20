package text

import (
	"bytes"

	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// blockCounts are the counts of one block of the file. A line feed ends a row only outside quotes,
// and whether the block begins inside quotes depends on all blocks before it. So both cases are
// counted: index 0 if the block begins outside quotes, index 1 if it begins inside.
type blockCounts struct {
	rows   [2]int64 // line feeds that end a row, without empty lines
	last   [2]int64 // file offset after the last line feed outside quotes, 0 for none
	lines  [2]int64 // line feeds up to and including that one
	total  int64    // all line feeds
	quotes int64
}

// countRows counts the rows in parallel and divides the file into spans.
func (c *csvFile) countRows() error {
	counts := make([]blockCounts, c.Blocks(c.dataOffset))
	// Two bytes of the previous block show whether a line feed at the start of this block ends an
	// empty line.
	err := c.ForBlocks(c.dataOffset, 2, func(i int, buf []byte, lead int, begin int64) {
		counts[i] = countBlock(buf, lead, begin, begin-int64(lead) == c.dataOffset)
	})
	if err != nil {
		return err
	}
	return c.makeSpans(counts)
}

// makeSpans converts the counts of blocks to spans of whole rows.
func (c *csvFile) makeSpans(counts []blockCounts) error {
	parity := 0
	at := source.Span{Begin: c.dataOffset, Line0: c.line0}
	lines := c.line0
	for _, t := range counts {
		if t.last[parity] > 0 {
			at.End, at.Rows = t.last[parity], t.rows[parity]
			c.AddSpan(at)
			at = source.Span{Begin: at.End, Row0: at.Row0 + at.Rows, Line0: lines + t.lines[parity]}
		}
		lines += t.total
		parity ^= int(t.quotes & 1)
	}
	if at.Begin < c.Size {
		tail := make([]byte, min(2, c.Size-at.Begin))
		if _, err := c.ReadAt(tail, at.Begin); err != nil {
			return err
		}
		if string(tail) != "\r" {
			at.End, at.Rows = c.Size, 1
			c.AddSpan(at)
		}
	}
	return nil
}

// countBlock counts a block at a file offset. The first lead bytes of buf belong to the previous
// block. first reports whether buf begins with the first row.
func countBlock(buf []byte, lead int, offset int64, first bool) (t blockCounts) {
	offset -= int64(lead)
	within := 0 // 1 after an odd number of quotes
	for i := lead; i < len(buf); {
		// All line feeds up to the next quote are inside quotes, or all are outside.
		stop := bytes.IndexByte(buf[i:], '"')
		if stop < 0 {
			stop = len(buf)
		} else {
			stop += i
		}
		for i < stop {
			n := bytes.IndexByte(buf[i:stop], '\n')
			if n < 0 {
				break
			}
			i += n
			t.total++
			if !endsEmptyLine(buf, i, first) {
				t.rows[within]++
			}
			t.last[within], t.lines[within] = offset+int64(i)+1, t.total
			i++
		}
		if stop < len(buf) {
			t.quotes++
			within ^= 1
		}
		i = stop + 1
	}
	return t
}

// endsEmptyLine reports whether the line feed at i ends an empty line. first reports whether buf
// begins with the first row.
func endsEmptyLine(buf []byte, i int, first bool) bool {
	if i > 0 && buf[i-1] == '\r' {
		i--
	}
	if i == 0 {
		return first
	}
	return buf[i-1] == '\n'
}
