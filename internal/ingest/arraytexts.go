package ingest

import (
	"bufio"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/tensorcache/tensorcache/layout"
)

// texts reads a column of texts: rows + 1 offsets, which are kept in scratch, and then the bytes.
func (a *arrays) texts(h PutColumn, t target) error {
	s, err := newScratch(a.dir, layout.Table{Rows: a.count + 1, Columns: []layout.Column{{Name: "offsets", DType: layout.Int64}}})
	if err != nil {
		return err
	}
	defer s.close()
	offsets := layout.Values[int64](s.Dest(0)).Data
	if err := a.conn.full(bytesOf(offsets), a.total); err != nil {
		return err
	}
	end := h.Bytes - 8*(a.count+1)
	if offsets[0] != 0 || offsets[a.count] != end {
		return &SourceError{Reason: fmt.Sprintf("its texts go from byte %d to %d, want 0 to %d", offsets[0], offsets[a.count], end)}
	}
	bytes := bufio.NewReaderSize(io.LimitReader(a.conn, end), blockBytes)
	var last []byte
	code := []int32{-1}
	for row := range a.count {
		n := offsets[row+1] - offsets[row]
		if n < 0 || n > blockBytes || offsets[row+1] > end {
			return &SourceError{Row: row + 1, Reason: fmt.Sprintf("a text from byte %d to %d, want at most %d bytes of %d", offsets[row], offsets[row+1], blockBytes, end)}
		}
		word, err := bytes.Peek(int(n))
		if err != nil {
			return endedEarly(a.conn.bytes, a.total)
		}
		if code[0] < 0 || string(word) != string(last) {
			if err := checkWord(word, row); err != nil {
				return err
			}
			last = append(last[:0], word...)
			code[0] = t.dict.code(word)
		}
		put(t.dest, t.row0+row, code)
		_, _ = bytes.Discard(int(n)) // what was peeked is there
	}
	return nil
}

// checkWord refuses words that are no names of items. Rows count from 0 here.
func checkWord(word []byte, row int64) error {
	switch {
	case len(word) == 0:
		return &SourceError{Row: row + 1, Reason: "the text is empty, but an item needs a name"}
	case !utf8.Valid(word):
		return &SourceError{Row: row + 1, Text: string(word), Reason: reasonUTF8}
	}
	return nil
}
