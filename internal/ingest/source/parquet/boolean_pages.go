package parquet

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// boolDecoder decodes the boolean column of one row group. It does not use a library: parquet-go
// silently reads the bytes of RLE booleans as bits, and Arrow v15 does not terminate on damaged
// ones.
type boolDecoder struct {
	source.Target
	first, rows  int64 // first row of the row group in the file, and its row count
	row          int64
	nullable     bool
	codec        compress.Codec
	meta         *format.ColumnMetaData
	compressed   []byte
	uncompressed []byte
	cells        []uint8
	levels       []uint8
}

// read decodes all pages.
func (b *boolDecoder) read(file io.ReaderAt) error {
	m := b.meta
	r := bufio.NewReaderSize(io.NewSectionReader(file, chunkOffset(m), m.TotalCompressedSize),
		pageBuffer)
	var protocol thrift.CompactProtocol
	decoder := thrift.NewDecoder(protocol.NewReader(r))
	for page := 1; b.row < b.rows; page++ {
		if err := b.nextPage(r, decoder); err != nil {
			return &pageError{page, err}
		}
	}
	return nil
}

// nextPage reads and decodes the next page.
func (b *boolDecoder) nextPage(r io.Reader, decoder *thrift.Decoder) error {
	var h format.PageHeader
	if err := decoder.Decode(&h); err != nil {
		return fmt.Errorf("read the header of a page after %d of %d rows: %w", b.row, b.rows, err)
	}
	if n := int64(h.CompressedPageSize); n < 0 || n > b.meta.TotalCompressedSize {
		return fmt.Errorf("a page of %d bytes in a column of %d", n, b.meta.TotalCompressedSize)
	}
	b.compressed = resized(b.compressed, int(h.CompressedPageSize))
	if _, err := io.ReadFull(r, b.compressed); err != nil {
		return err
	}
	if h.CRC != 0 && crc32.ChecksumIEEE(b.compressed) != uint32(h.CRC) {
		return errors.New("crc32 checksum mismatch in a page")
	}
	return b.decodePage(&h)
}

// resized returns a buffer of n bytes, b itself if it has the capacity. The contents are undefined.
func resized(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// decodePage decodes the page in b.compressed.
func (b *boolDecoder) decodePage(h *format.PageHeader) error {
	if err := checkEncoding(h); err != nil {
		return err
	}
	switch {
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		d := &h.DataPageHeader.V
		n, err := b.checkCount(d.NumValues)
		if err != nil {
			return err
		}
		data, err := b.decompress(b.compressed, int64(h.UncompressedPageSize), n)
		if err != nil {
			return err
		}
		if !b.nullable {
			return b.decodeValues(data, d.Encoding, n)
		}
		if d.DefinitionLevelEncoding != format.RLE {
			return fmt.Errorf("definition levels in %s", d.DefinitionLevelEncoding)
		}
		levels, data, err := cutLengthPrefixed(data)
		if err != nil {
			return err
		}
		if err := b.decodeLevels(levels, n); err != nil {
			return err
		}
		return b.decodeValues(data, d.Encoding, n)
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		return b.decodePageV2(&h.DataPageHeaderV2.V, int64(h.UncompressedPageSize))
	}
	return fmt.Errorf("a page of type %s", h.Type)
}

// decodePageV2 decodes the data page of version 2 in b.compressed. Its levels are not compressed.
func (b *boolDecoder) decodePageV2(d *format.DataPageHeaderV2, size int64) error {
	n, err := b.checkCount(d.NumValues)
	if err != nil {
		return err
	}
	// Some writers give a flat column repetition levels, which say nothing.
	repetition := int64(d.RepetitionLevelsByteLength)
	levels := repetition + int64(d.DefinitionLevelsByteLength)
	if repetition < 0 || levels < repetition || levels > int64(len(b.compressed)) {
		return fmt.Errorf("levels of %d and %d bytes", repetition, levels-repetition)
	}
	if b.nullable {
		if err := b.decodeLevels(b.compressed[repetition:levels], n); err != nil {
			return err
		}
	}
	data := b.compressed[levels:]
	// A page of nulls alone has no values, and nothing was compressed.
	if len(data) > 0 && (!d.IsCompressed.Valid || d.IsCompressed.V) {
		if data, err = b.decompress(data, size-levels, n); err != nil {
			return err
		}
	}
	return b.decodeValues(data, d.Encoding, n)
}

// checkCount returns the number of values of a page, and an error if the row group has fewer rows
// left.
func (b *boolDecoder) checkCount(n int32) (int, error) {
	if n < 0 || int64(n) > b.rows-b.row {
		return 0, fmt.Errorf("a page of %d values after %d of %d rows", n, b.row, b.rows)
	}
	b.cells, b.levels = resized(b.cells, int(n)), resized(b.levels, int(n))
	return int(n), nil
}

// decompress returns the uncompressed bytes of a page of n values. It refuses a page that declares
// more than 64 KiB and 32 bytes a value.
func (b *boolDecoder) decompress(page []byte, size int64, n int) ([]byte, error) {
	if b.codec == nil || b.codec.CompressionCodec() == format.Uncompressed {
		return page, nil
	}
	if size < 0 || size > 64<<10+32*int64(n) {
		return nil, fmt.Errorf("a page of %d bytes for %d values", size, n)
	}
	b.uncompressed = resized(b.uncompressed, int(size))
	plain, err := b.codec.Decode(b.uncompressed, page)
	if err == nil && int64(len(plain)) != size {
		err = fmt.Errorf("a page of %d bytes, its header says %d", len(plain), size)
	}
	return plain, err
}

// cutLengthPrefixed splits data that begins with a length of 4 bytes: head has that length, and
// rest follows it.
func cutLengthPrefixed(data []byte) (head, rest []byte, err error) {
	if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
		return nil, nil, io.ErrUnexpectedEOF
	}
	n := 4 + binary.LittleEndian.Uint32(data)
	return data[4:n], data[n:], nil
}

// decodeLevels decodes the definition levels of a page. It returns an error at a null if the column
// cannot hold missing values.
func (b *boolDecoder) decodeLevels(levels []byte, n int) error {
	if err := decodeHybrid(levels, b.levels[:n]); err != nil {
		return err
	}
	for i, l := range b.levels[:n] {
		if l == 0 && !b.Dest.CanMiss() { // otherwise a later step fills it
			d := generalDecoder{Target: b.Target, first: b.first, row: b.row}
			return d.nullError(int64(i))
		}
	}
	return nil
}

// decodeValues decodes the values of a page and writes them to the destination.
func (b *boolDecoder) decodeValues(data []byte, encoding format.Encoding, n int) error {
	cells, have := b.cells[:n], n
	if b.nullable {
		have = bytes.Count(b.levels[:n], []byte{1})
	}
	defined := cells[:have]
	switch {
	case have == 0: // a page of nulls may have no values of any encoding
	case encoding == format.Plain:
		if len(data) < (have+7)/8 {
			return io.ErrUnexpectedEOF
		}
		for i := range defined {
			defined[i] = data[i/8] >> (i % 8) & 1
		}
	case encoding == format.RLE:
		runs, _, err := cutLengthPrefixed(data)
		if err == nil {
			err = decodeHybrid(runs, defined)
		}
		if err != nil {
			return err
		}
	default:
		return fmt.Errorf("booleans in %s", encoding)
	}
	for i := n - 1; have < n && i >= 0; i-- { // move values to their rows, last first
		v := uint8(0)
		if b.levels[i] == 1 {
			have--
			v = cells[have]
		}
		cells[i] = v
	}
	at := b.Row0 + b.first + b.row
	column.Write(b.Dest, at, cells)
	for i := range cells {
		if b.nullable && b.levels[i] == 0 {
			column.WriteMissing(b.Dest, at+int64(i), 1)
		}
	}
	b.row += int64(n)
	return nil
}

// decodeHybrid decodes Parquet's hybrid of RLE and bit-packing with a bit width of 1.
func decodeHybrid(data []byte, out []uint8) error {
	for len(out) > 0 {
		head, size := binary.Uvarint(data)
		if size <= 0 || size == len(data) {
			return io.ErrUnexpectedEOF
		}
		data = data[size:]
		if head&1 == 0 { // an RLE run: its value is in one byte
			n := min(uint64(len(out)), head>>1)
			if data[0] > 1 {
				return fmt.Errorf("a run of the value %d", data[0])
			}
			for i := range out[:n] {
				out[i] = data[0]
			}
			out, data = out[n:], data[1:]
			continue
		}
		// Bit-packed groups of eight values, one byte each.
		for groups := head >> 1; groups > 0 && len(out) > 0; groups-- {
			if len(data) == 0 {
				return io.ErrUnexpectedEOF
			}
			n := min(8, len(out))
			for i := range out[:n] {
				out[i] = data[0] >> i & 1
			}
			out, data = out[n:], data[1:]
		}
	}
	return nil
}
