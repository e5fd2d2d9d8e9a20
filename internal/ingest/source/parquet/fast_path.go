package parquet

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// errUnsupported is returned when the fast path does not support a column chunk, or the chunk is
// damaged.
var errUnsupported = errors.New("is not supported by the fast path")

// fastBuffers are the buffers of one worker. They are reused from chunk to chunk.
type fastBuffers struct {
	in                       *bufio.Reader
	compressed, uncompressed []byte // bytes of the current page
	dictionaryPage           []byte // uncompressed bytes of the dictionary page
	source.ObserverCache
}

// Sizes of the fast path.
const (
	// readBufferBytes is the size of one read. It fits a core's own cache until it is copied.
	readBufferBytes = 256 << 10
	// maxPageBytes is the largest page that is buffered as a whole.
	maxPageBytes = 4 << 20
	// rowsPerCopy is the number of rows that are copied, and then observed, at a time. They stay
	// in the L1 cache meanwhile.
	rowsPerCopy = 8 << 10
)

// plainDictionary is PLAIN_DICTIONARY, which older writers use for the dictionary page and for
// dictionary indices.
const plainDictionary = format.Encoding(2)

// fastDecoder decodes a column chunk of numbers without nulls, plain or with a dictionary, whose
// stored type is the type of the destination. It decodes straight into the buffer of the
// destination. parquet-go decodes into a page with a level and an index per value first, which
// takes more than half as long again.
//
// It is stricter than parquet-go: any unexpected byte is an error. The column chunk is then decoded
// by parquet-go, which produces the error message if there is one.
type fastDecoder[S column.Storable] struct {
	*fastBuffers
	source.Target
	section        *io.SectionReader // of the file; in reads from it
	row, remaining int64             // next row of the destination, and rows not decoded yet
	nullable       bool
	meta           *format.ColumnMetaData
	codec          compress.Codec
	dictionary     []S // nil before the dictionary page
	pages          int
}

// decodeFast decodes a column chunk into t.Dest. If it returns an error, some rows may already be
// written; they are overwritten later, so it invalidates the target's observer.
func decodeFast(
	file io.ReaderAt, b *fastBuffers, t source.Target, f columnType, row int64,
	chunk *format.ColumnChunk, codec compress.Codec, nullable bool,
) (err error) {
	whole := false // it stays false if the decoder panics
	defer func() {
		if !whole || err != nil {
			t.Invalidate()
		}
	}()
	err = decodeFastByType(file, b, t, f, row, chunk, codec, nullable)
	whole = true
	return err
}

// decodeFastByType selects the decoder by the physical type. The physical values of decimals are not
// their values.
func decodeFastByType(
	file io.ReaderAt, b *fastBuffers, t source.Target, f columnType, row int64,
	chunk *format.ColumnChunk, codec compress.Codec, nullable bool,
) error {
	if f.Decimal {
		return errUnsupported
	}
	switch f.physical {
	case parquet.Double:
		return decodeFastAs[float64](file, b, t, row, chunk, codec, nullable)
	case parquet.Float:
		return decodeFastAs[float32](file, b, t, row, chunk, codec, nullable)
	case parquet.Int64:
		if f.unsigned {
			return decodeFastAs[uint64](file, b, t, row, chunk, codec, nullable)
		}
		return decodeFastAs[int64](file, b, t, row, chunk, codec, nullable)
	case parquet.Int32:
		if f.unsigned {
			return decodeFastAs[uint32](file, b, t, row, chunk, codec, nullable)
		}
		return decodeFastAs[int32](file, b, t, row, chunk, codec, nullable)
	}
	return errUnsupported
}

// decodeFastAs decodes a column chunk whose values are stored as S.
func decodeFastAs[S column.Storable](
	file io.ReaderAt, b *fastBuffers, t source.Target, row int64, chunk *format.ColumnChunk,
	codec compress.Codec, nullable bool,
) error {
	m := &chunk.MetaData
	if !column.IsDType[S](t.Dest.DType) || !t.Dest.Dense() || m.Statistics.NullCount > 0 ||
		chunk.CryptoMetadata.Value != nil {
		return errUnsupported
	}
	section := io.NewSectionReader(file, chunkOffset(m), m.TotalCompressedSize)
	if b.in == nil {
		b.in = bufio.NewReaderSize(section, readBufferBytes)
	}
	b.in.Reset(section)
	c := &fastDecoder[S]{
		fastBuffers: b,
		Target:      t,
		section:     section,
		row:         row,
		remaining:   m.NumValues,
		nullable:    nullable,
		meta:        m,
		codec:       codec,
	}
	decoder := newThriftDecoder(b.in, m.TotalCompressedSize)
	for c.remaining > 0 {
		var h format.PageHeader
		if err := decoder.Decode(&h); err != nil {
			return err
		}
		if err := c.decodePage(&h); err != nil {
			return err
		}
		c.pages++
	}
	if _, err := b.in.ReadByte(); !errors.Is(err, io.EOF) {
		return errUnsupported // bytes follow the last page
	}
	return nil
}

// decodePage decodes the page that follows its header h.
func (c *fastDecoder[S]) decodePage(h *format.PageHeader) error {
	limit := max(c.meta.TotalUncompressedSize, minPageLimit)
	if h.CompressedPageSize < 0 || h.UncompressedPageSize < 0 ||
		int64(h.CompressedPageSize) > c.meta.TotalCompressedSize ||
		int64(h.UncompressedPageSize) > limit {
		return errUnsupported
	}
	switch {
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid && c.pages == 0:
		return c.decodeDictionaryPage(h)
	case h.Type != format.DataPage || !h.DataPageHeader.Valid:
		return errUnsupported
	}
	d := &h.DataPageHeader.V
	n := int64(d.NumValues)
	if n < 0 || n > c.remaining || c.nullable && d.DefinitionLevelEncoding != format.RLE {
		return errUnsupported
	}
	switch d.Encoding {
	case format.Plain:
		if h.CRC == 0 && h.CompressedPageSize >= h.UncompressedPageSize &&
			(c.meta.Codec == format.Snappy || c.meta.Codec == format.Uncompressed) {
			return c.decodeIncompressible(h, n)
		}
		data, err := c.readUncompressed(h, &c.uncompressed)
		if err == nil {
			data, err = c.cutLevels(data, n)
		}
		if err != nil || int64(len(data)) != n*sizeOf[S]() {
			return errors.Join(errUnsupported, err)
		}
		return c.writeRows(n, func(to []S) error {
			data = data[copy(column.BytesOf(to), data):]
			return nil
		})
	case plainDictionary, format.RLEDictionary:
		data, err := c.readUncompressed(h, &c.uncompressed)
		if err == nil {
			data, err = c.cutLevels(data, n)
		}
		if err != nil || c.dictionary == nil {
			return errors.Join(errUnsupported, err)
		}
		x, err := newIndexDecoder(data)
		if err == nil {
			err = c.writeRows(n, func(to []S) error { return decodeIndexed(x, to, c.dictionary) })
		}
		if err == nil && !x.atEnd() {
			err = errUnsupported
		}
		return err
	}
	return errUnsupported
}

// writeRows writes n values to the destination. decode decodes the next len(to) of them.
func (c *fastDecoder[S]) writeRows(n int64, decode func(to []S) error) error {
	for n > 0 {
		to := layout.Next[S](c.Dest.ColumnWriter, c.row, min(n, rowsPerCopy))
		if err := decode(to); err != nil {
			return err
		}
		if column.CheckCells(c.Kind, to) >= 0 {
			return errUnsupported
		}
		source.Observe(&c.ObserverCache, c.Target, c.row, to)
		done := int64(len(to))
		c.Dest.Commit(c.row, done)
		c.row, c.remaining, n = c.row+done, c.remaining-done, n-done
	}
	return nil
}

// readUncompressed reads a page and returns its uncompressed bytes. At least 8 bytes of capacity
// follow them.
func (c *fastDecoder[S]) readUncompressed(h *format.PageHeader, into *[]byte) ([]byte, error) {
	if h.CompressedPageSize > maxPageBytes || h.UncompressedPageSize > maxPageBytes {
		return nil, errUnsupported
	}
	c.compressed = resized(c.compressed, int(h.CompressedPageSize))
	if _, err := io.ReadFull(c.in, c.compressed); err != nil {
		return nil, err
	}
	if h.CRC != 0 && crc32.ChecksumIEEE(c.compressed) != uint32(h.CRC) {
		return nil, errUnsupported
	}
	if c.meta.Codec == format.Uncompressed {
		if h.CompressedPageSize != h.UncompressedPageSize {
			return nil, errUnsupported
		}
		*into = append(resized(*into, int(h.UncompressedPageSize)+8)[:0], c.compressed...)
		return *into, nil
	}
	if declaredSize(bytes.NewReader(c.compressed), c.meta.Codec, 0, int64(len(c.compressed))) >
		uint64(h.UncompressedPageSize) {
		return nil, errUnsupported // the codec would allocate that much
	}
	*into = resized(*into, int(h.UncompressedPageSize)+8)[:h.UncompressedPageSize]
	plain, err := c.codec.Decode(*into, c.compressed)
	if err != nil || len(plain) != len(*into) {
		return nil, errors.Join(errUnsupported, err)
	}
	if &plain[:1][0] != &(*into)[:1][0] {
		copy(*into, plain)
	}
	return *into, nil
}

// cutLevels returns the values of a page of n values without the definition levels before them. It
// returns an error if a value is null.
func (c *fastDecoder[S]) cutLevels(data []byte, n int64) ([]byte, error) {
	if !c.nullable {
		return data, nil
	}
	levels, data, err := cutLengthPrefixed(data)
	if err == nil && !allDefined(levels, n) {
		err = errUnsupported
	}
	return data, err
}

// allDefined reports whether n definition levels are RLE runs of 1. Writers encode the levels of
// pages without nulls in this way.
func allDefined(levels []byte, n int64) bool {
	for n > 0 {
		head, size := binary.Uvarint(levels)
		if size <= 0 || head&1 != 0 || head == 0 || head>>1 > uint64(n) || len(levels) <= size ||
			levels[size] != 1 {
			return false
		}
		n, levels = n-int64(head>>1), levels[size+1:]
	}
	return len(levels) == 0
}

// decodeIncompressible decodes a page without a checksum whose compressed size is at least its
// uncompressed size: snappy saved nothing, or there is no codec. It reads the values from the file
// straight into the destination.
func (c *fastDecoder[S]) decodeIncompressible(h *format.PageHeader, n int64) error {
	begin, err := c.section.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	begin -= int64(c.in.Buffered())
	l := &snappyLiterals{
		in:        c.in,
		blockLeft: int64(h.CompressedPageSize),
		decodeBlock: func() ([]byte, error) {
			if _, err := c.section.Seek(begin, io.SeekStart); err != nil {
				return nil, err
			}
			c.in.Reset(c.section)
			return c.readUncompressed(h, &c.uncompressed)
		},
	}
	if c.meta.Codec == format.Uncompressed {
		l.literalLeft = l.blockLeft
	} else if err := l.readLength(int64(h.UncompressedPageSize)); err != nil {
		return err
	}
	size := int64(h.UncompressedPageSize)
	if c.nullable {
		var head [4 + 64]byte
		if err := l.read(head[:4]); err != nil {
			return err
		}
		levels := int64(binary.LittleEndian.Uint32(head[:]))
		if levels > int64(len(head)-4) {
			return errUnsupported
		}
		if err := l.read(head[4 : 4+levels]); err != nil {
			return err
		}
		if !allDefined(head[4:4+levels], n) {
			return errUnsupported
		}
		size -= 4 + levels
	}
	if size != n*sizeOf[S]() {
		return errUnsupported
	}
	if err := c.writeRows(n, func(to []S) error { return l.read(column.BytesOf(to)) }); err != nil {
		return err
	}
	if l.blockLeft != 0 || l.literalLeft != 0 && c.meta.Codec != format.Uncompressed {
		return errUnsupported
	}
	return nil
}

// sizeOf returns the size of S in bytes.
func sizeOf[S column.Storable]() int64 {
	var zero S
	return int64(unsafe.Sizeof(zero))
}
