package put

import (
	"bufio"
	"fmt"
	"io"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// readTexts reads a column of texts: rows + 1 int64 offsets, which it stores in a scratch file, and
// then the bytes of the texts. An offset o that is sent as -o-1 marks the text that ends there as
// missing. A text has at most [files.BlockBytes] bytes.
func (a *arrays) readTexts(h Column, t source.Target) error {
	s, err := column.NewScratch(a.dir, layout.Table{
		Rows: a.count + 1, Columns: []layout.Column{{Name: "offsets", DType: layout.Int64}},
	})
	if err != nil {
		return err
	}
	defer s.Close()
	offsets := layout.Values[int64](s.Column(0, layout.Random)).Data
	if err := a.conn.readFull(column.BytesOf(offsets), a.total); err != nil {
		return err
	}
	end := h.Bytes - 8*(a.count+1)
	last := offsets[a.count]
	if last < 0 {
		last = -(last + 1)
	}
	if offsets[0] != 0 || last != end {
		return &loaderr.SourceError{
			Reason: fmt.Sprintf("its texts go from byte %d to %d, want 0 to %d",
				offsets[0], last, end),
		}
	}
	bytes := bufio.NewReaderSize(io.LimitReader(a.conn, end), files.BlockBytes)
	var previous []byte
	code := []int32{-1}
	at := int64(0)
	for row := range a.count {
		missing := offsets[row+1] < 0
		if missing {
			offsets[row+1] = -(offsets[row+1] + 1)
		}
		n := offsets[row+1] - at
		at = offsets[row+1]
		if missing && t.Role != layout.RoleValue {
			return t.MissingError(row + 1)
		}
		if missing && n == 0 {
			code[0] = -1
			column.Write(t.Dest, t.Row0+row, code)
			continue
		}
		if missing || n < 0 || n > files.BlockBytes || offsets[row+1] > end {
			return &loaderr.SourceError{
				Row: row + 1,
				Reason: fmt.Sprintf("a text from byte %d to %d, want at most %d bytes of %d",
					at-n, offsets[row+1], files.BlockBytes, end),
			}
		}
		word, err := bytes.Peek(int(n))
		if err != nil {
			return endedEarly(a.conn.bytes, a.total)
		}
		if code[0] < 0 || string(word) != string(previous) {
			if err := source.CheckText(word, t.Role, row); err != nil {
				return err
			}
			previous = append(previous[:0], word...)
			code[0] = t.Words.Code(word)
		}
		column.Write(t.Dest, t.Row0+row, code)
		_, _ = bytes.Discard(int(n)) // succeeds: Peek has buffered these bytes
	}
	return nil
}
