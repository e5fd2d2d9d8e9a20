package numpy

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// readTexts reads texts of fixed length, which are padded with zeros.
func (c *npyColumn) readTexts(t source.Target, values io.Reader) error {
	raw := make([]byte, c.size)
	var word, last []byte
	code := []int32{-1}
	for row := range c.Shape[0] {
		if _, err := io.ReadFull(values, raw); err != nil {
			return err
		}
		if word = bytes.TrimRight(raw, "\x00"); c.textType == 'U' {
			var ok bool
			if word, ok = fromUTF32(raw); !ok {
				return &loaderr.SourceError{
					Row: row + 1, Reason: "the text is not of Unicode", Hint: loaderr.HintDamaged,
				}
			}
		}
		if code[0] < 0 || !bytes.Equal(word, last) {
			if err := source.CheckText(word, t.Role, row); err != nil {
				return err
			}
			last, code[0] = append(last[:0], word...), t.Words.Code(word)
		}
		column.Write(t.Dest, t.Row0+row, code)
	}
	return nil
}

// fromUTF32 returns a little-endian UTF-32 text as UTF-8, without trailing zeros. ok is false if it
// is not valid Unicode.
func fromUTF32(raw []byte) (word []byte, ok bool) {
	for len(raw) > 0 && binary.LittleEndian.Uint32(raw[len(raw)-4:]) == 0 {
		raw = raw[:len(raw)-4]
	}
	for ; len(raw) > 0; raw = raw[4:] {
		r := binary.LittleEndian.Uint32(raw)
		if r > utf8.MaxRune || !utf8.ValidRune(rune(r)) {
			return nil, false
		}
		word = utf8.AppendRune(word, rune(r))
	}
	return word, true
}

// npyValues reads the values of one column from the stream of an array: little-endian and
// contiguous.
type npyValues struct {
	from   io.Reader
	column *npyColumn
	block  []byte // buffer for whole records
	rest   []byte // records of block that are not yet read
	err    error  // the first error of from
}

// Read fills p, whose length must be a multiple of the size of a value.
func (v *npyValues) Read(p []byte) (n int, err error) {
	c := v.column
	if c.recordBytes == 0 {
		n, err = io.ReadFull(v.from, p)
	} else {
		n, err = v.readFields(p)
	}
	if err != nil {
		v.err = err
	}
	if !c.swap || c.size == 1 {
		return n, err
	}
	size := c.size
	if c.textType == 'U' {
		size = 4
	} else if c.textType == 'S' {
		return n, err
	}
	for at := int64(0); at+size <= int64(n); at += size {
		slices.Reverse(p[at : at+size])
	}
	return n, err
}

// readFields copies the column's field of each record to p.
func (v *npyValues) readFields(p []byte) (n int, err error) {
	c := v.column
	size := c.Bytes / max(1, c.Shape[0])
	if v.block == nil {
		v.block = make([]byte, max(1, files.BlockBytes/c.recordBytes)*c.recordBytes)
	}
	for n < len(p) {
		if len(v.rest) == 0 {
			got, err := io.ReadFull(v.from, v.block[:min(int64(len(v.block)),
				(int64(len(p)-n)+size-1)/size*c.recordBytes)])
			if err != nil {
				return n, err
			}
			v.rest = v.block[:got]
		}
		n += copy(p[n:], v.rest[c.offset:c.offset+size])
		v.rest = v.rest[c.recordBytes:]
	}
	return n, nil
}

// skip discards the first n bytes, which are the header.
func (v *npyValues) skip(n int64) error {
	if _, err := io.CopyN(io.Discard, v.from, n); err != nil {
		v.err = err
		return err
	}
	return nil
}
