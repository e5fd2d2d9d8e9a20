package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// minPageLimit is the page size in bytes that is accepted even if the column chunk declares fewer
// bytes.
const minPageLimit = 16 << 20

// pageError is an error in a page of a column chunk. page counts from 1; 0 is the dictionary page.
type pageError struct {
	page int
	error
}

func (p *pageError) Unwrap() error { return p.error }

// chunkOffset returns the file offset of a column chunk: of its dictionary page, if it has one, or
// else of its first data page.
func chunkOffset(m *format.ColumnMetaData) int64 {
	if m.DictionaryPageOffset > 0 {
		return min(m.DictionaryPageOffset, m.DataPageOffset)
	}
	return m.DataPageOffset
}

// locatePageError adds the page number to an error of parquet-go that occurs after a number of
// decoded pages.
func locatePageError(
	file io.ReaderAt, m *format.ColumnMetaData, pages parquet.Pages, decoded int, err error,
) error {
	// pageError has the number, counted from 1
	if strings.HasPrefix(err.Error(), "decoding page ") {
		err = errors.Unwrap(err)
	}
	if decoded == 0 && dictionaryFails(file, m, pages) {
		return &pageError{0, err}
	}
	return &pageError{decoded + 1, err}
}

// dictionaryFails reports whether a column chunk has a dictionary page that cannot be decoded or
// does not match its checksum.
func dictionaryFails(file io.ReaderAt, m *format.ColumnMetaData, pages parquet.Pages) bool {
	r := bufio.NewReaderSize(io.NewSectionReader(file, chunkOffset(m), m.TotalCompressedSize),
		pageBuffer)
	var h format.PageHeader
	if newThriftDecoder(r, m.TotalCompressedSize).Decode(&h) != nil ||
		h.Type != format.DictionaryPage {
		return false
	}
	sum := crc32.NewIEEE()
	if _, err := io.CopyN(sum, r, int64(h.CompressedPageSize)); err != nil ||
		h.CRC != 0 && sum.Sum32() != uint32(h.CRC) {
		return true
	}
	reader, ok := pages.(*parquet.FilePages)
	if !ok {
		return false
	}
	_, err := reader.ReadDictionary()
	return err != nil
}

// checkPages reads every page header of a column chunk. It compares the declared sizes of pages and
// of compressed values with the sizes in the footer, because parquet-go allocates declared sizes
// before it reads the data. parquet-go finds other damage itself. empty reports whether a page has
// only levels: see onlyLevels.
func checkPages(
	file io.ReaderAt, m *format.ColumnMetaData, rows int64,
) (empty bool, err error) {
	at, pages := chunkOffset(m), 0
	end := at + m.TotalCompressedSize
	limit := max(m.TotalUncompressedSize, minPageLimit)
	r := bufio.NewReaderSize(nil, pageBuffer)
	decoder := newThriftDecoder(r, limit)
	for at < end {
		damaged := func(reason string) (bool, error) {
			return false, &pageError{pages + 1,
				&loaderr.SourceError{Reason: reason, Hint: loaderr.HintDamaged}}
		}
		section := io.NewSectionReader(file, at, end-at)
		r.Reset(section)
		var h format.PageHeader
		if err := decoder.Decode(&h); errors.Is(err, io.EOF) &&
			!errors.Is(err, io.ErrUnexpectedEOF) {
			return empty, nil
		} else if err != nil {
			return damaged("its header cannot be read: " + err.Error())
		}
		if h.Type == format.DictionaryPage {
			pages--
		}
		read, err := section.Seek(0, io.SeekCurrent)
		if err != nil {
			return false, err
		}
		at += read - int64(r.Buffered())
		packed, size := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
		if packed < 0 || packed > end-at || size < 0 || size > limit {
			return damaged(fmt.Sprintf("is of %d and %d bytes in a column of %d and %d",
				packed, size,
				end-at, m.TotalUncompressedSize))
		}
		n := int64(h.DataPageHeader.V.NumValues) + int64(h.DataPageHeaderV2.V.NumValues)
		if n < 0 || n > rows {
			return damaged(fmt.Sprintf("holds %d values for %d rows", n, rows))
		}
		rows -= n
		levels := max(0, int64(h.DataPageHeaderV2.V.DefinitionLevelsByteLength)) +
			max(0, int64(h.DataPageHeaderV2.V.RepetitionLevelsByteLength))
		plain := h.DataPageHeaderV2.Valid && h.DataPageHeaderV2.V.IsCompressed.Valid &&
			!h.DataPageHeaderV2.V.IsCompressed.V
		if declared := declaredSize(file, m.Codec, at+levels, packed-levels); !plain &&
			declared > uint64(size) {
			return damaged(fmt.Sprintf("is of %d bytes whose values are %d", size, declared))
		}
		if err := checkEncoding(&h); err != nil {
			return false, &pageError{pages + 1, err}
		}
		empty = empty || onlyLevels(&h, m.Codec)
		at += packed
		pages++
	}
	return empty, nil
}

// Encodings of Parquet's format.
const (
	lastEncoding  = format.ByteStreamSplit
	mostEncodings = 64 // more are damage
)

// checkEncoding refuses a data page in an encoding of a later version of Parquet.
func checkEncoding(h *format.PageHeader) error {
	e := h.DataPageHeader.V.Encoding
	if h.DataPageHeaderV2.Valid {
		e = h.DataPageHeaderV2.V.Encoding
	}
	if e <= lastEncoding || e >= mostEncodings {
		return nil
	}
	return &loaderr.SourceError{
		Reason: fmt.Sprintf("is in encoding %d of a later version of Parquet, which is not read", e),
		Hint:   "write the column with another encoding, or leave it out with `columns`",
	}
}

// declaredSize returns the uncompressed size that compressed data declares, or 0 if it declares
// none.
func declaredSize(file io.ReaderAt, codec format.CompressionCodec, at, size int64) uint64 {
	var head [zstd.HeaderMaxSize]byte
	if codec != format.Snappy && codec != format.Zstd || size <= 0 {
		return 0
	}
	n, _ := file.ReadAt(head[:min(size, int64(len(head)))], at) // the decoder reports missing bytes
	if codec == format.Snappy {
		declared, _ := binary.Uvarint(head[:n])
		return declared
	}
	var h zstd.Header
	if h.Decode(head[:n]) != nil || !h.HasFCS {
		return 0
	}
	return h.FrameContentSize
}
