package ingest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// pageFree is how large a page may be however little its column is said to hold.
const pageFree = 16 << 20

// checkPages holds the sizes that the headers of a column's pages say, and those that compressed values begin with, against the column's in
// the footer, and reads the headers to their ends: parquet-go makes room for all of that before it looks at what there is. What else may be wrong
// with a page it finds itself.
func checkPages(file io.ReaderAt, m *format.ColumnMetaData, rows int64) error {
	at := m.DataPageOffset
	if m.DictionaryPageOffset != 0 {
		at = m.DictionaryPageOffset
	}
	end := at + m.TotalCompressedSize
	most := max(m.TotalUncompressedSize, pageFree)
	r := bufio.NewReaderSize(nil, pageBuffer)
	decoder := newThriftDecoder(r, most)
	for at < end {
		section := io.NewSectionReader(file, at, end-at)
		r.Reset(section)
		var h format.PageHeader
		if err := decoder.Decode(&h); errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		} else if err != nil {
			return pageError("has a page whose header cannot be read: " + err.Error())
		}
		read, err := section.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		at += read - int64(r.Buffered())
		packed, size := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
		if packed < 0 || packed > end-at || size < 0 || size > most {
			return pageError(fmt.Sprintf("has a page of %d and %d bytes in a column of %d and %d", packed, size, end-at, m.TotalUncompressedSize))
		}
		n := int64(h.DataPageHeader.V.NumValues) + int64(h.DataPageHeaderV2.V.NumValues)
		if n < 0 || n > rows {
			return pageError(fmt.Sprintf("has a page of %d values for %d rows", n, rows))
		}
		rows -= n
		levels := max(0, int64(h.DataPageHeaderV2.V.DefinitionLevelsByteLength)) + max(0, int64(h.DataPageHeaderV2.V.RepetitionLevelsByteLength))
		plain := h.DataPageHeaderV2.Valid && h.DataPageHeaderV2.V.IsCompressed.Valid && !h.DataPageHeaderV2.V.IsCompressed.V
		if holds := packedSize(file, m.Codec, at+levels, packed-levels); !plain && holds > uint64(size) {
			return pageError(fmt.Sprintf("has a page of %d bytes whose values are %d", size, holds))
		}
		at += packed
	}
	return nil
}

func pageError(reason string) error { return &SourceError{Reason: reason, Hint: hintDamaged} }

// packedSize is how many bytes compressed ones say they hold, 0 where they do not.
func packedSize(file io.ReaderAt, codec format.CompressionCodec, at, size int64) uint64 {
	var head [zstd.HeaderMaxSize]byte
	if codec != format.Snappy && codec != format.Zstd || size <= 0 {
		return 0
	}
	n, _ := file.ReadAt(head[:min(size, int64(len(head)))], at) // the decoder says what is missing
	if codec == format.Snappy {
		holds, _ := binary.Uvarint(head[:n])
		return holds
	}
	var h zstd.Header
	if h.Decode(head[:n]) != nil || !h.HasFCS {
		return 0
	}
	return h.FrameContentSize
}
