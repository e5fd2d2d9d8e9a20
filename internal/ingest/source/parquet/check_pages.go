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

// pageFree is how large a page may be however little its column is said to hold.
const minPageLimit = 16 << 20

// pageFault is an error in a page of a column: counted from 1, 0 for its dictionary.
type pageError struct {
	page int
	error
}

func (p *pageError) Unwrap() error { return p.error }

// firstPage is where the pages of a column begin, with its dictionary where there is one.
func chunkOffset(m *format.ColumnMetaData) int64 {
	if m.DictionaryPageOffset > 0 {
		return min(m.DictionaryPageOffset, m.DataPageOffset)
	}
	return m.DataPageOffset
}

// pageError says which page of a column an error of parquet-go comes from, which has decoded so many before.
func locatePageError(file io.ReaderAt, m *format.ColumnMetaData, pages parquet.Pages, decoded int, err error) error {
	if strings.HasPrefix(err.Error(), "decoding page ") { // which we say, counted from 1
		err = errors.Unwrap(err)
	}
	if decoded == 0 && dictionaryFails(file, m, pages) {
		return &pageError{0, err}
	}
	return &pageError{decoded + 1, err}
}

// dictionaryFails reports whether a column has a dictionary that cannot be decoded, or contradicts its checksum.
func dictionaryFails(file io.ReaderAt, m *format.ColumnMetaData, pages parquet.Pages) bool {
	r := bufio.NewReaderSize(io.NewSectionReader(file, chunkOffset(m), m.TotalCompressedSize), pageBuffer)
	var h format.PageHeader
	if newThriftDecoder(r, m.TotalCompressedSize).Decode(&h) != nil || h.Type != format.DictionaryPage {
		return false
	}
	sum := crc32.NewIEEE()
	if _, err := io.CopyN(sum, r, int64(h.CompressedPageSize)); err != nil || h.CRC != 0 && sum.Sum32() != uint32(h.CRC) {
		return true
	}
	reader, ok := pages.(*parquet.FilePages)
	if !ok {
		return false
	}
	_, err := reader.ReadDictionary()
	return err != nil
}

// checkPages holds the sizes that the headers of a column's pages say, and those that compressed values begin with, against the column's in
// the footer, and reads the headers to their ends: parquet-go makes room for all of that before it looks at what there is. What else may be wrong
// with a page it finds itself.
func checkPages(file io.ReaderAt, m *format.ColumnMetaData, rows int64) error {
	at, pages := chunkOffset(m), 0
	end := at + m.TotalCompressedSize
	most := max(m.TotalUncompressedSize, minPageLimit)
	r := bufio.NewReaderSize(nil, pageBuffer)
	decoder := newThriftDecoder(r, most)
	for at < end {
		broken := func(reason string) error {
			return &pageError{pages + 1, &loaderr.SourceError{Reason: reason, Hint: loaderr.HintDamaged}}
		}
		section := io.NewSectionReader(file, at, end-at)
		r.Reset(section)
		var h format.PageHeader
		if err := decoder.Decode(&h); errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		} else if err != nil {
			return broken("its header cannot be read: " + err.Error())
		}
		if h.Type == format.DictionaryPage {
			pages--
		}
		read, err := section.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		at += read - int64(r.Buffered())
		packed, size := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
		if packed < 0 || packed > end-at || size < 0 || size > most {
			return broken(fmt.Sprintf("is of %d and %d bytes in a column of %d and %d", packed, size, end-at, m.TotalUncompressedSize))
		}
		n := int64(h.DataPageHeader.V.NumValues) + int64(h.DataPageHeaderV2.V.NumValues)
		if n < 0 || n > rows {
			return broken(fmt.Sprintf("holds %d values for %d rows", n, rows))
		}
		rows -= n
		levels := max(0, int64(h.DataPageHeaderV2.V.DefinitionLevelsByteLength)) + max(0, int64(h.DataPageHeaderV2.V.RepetitionLevelsByteLength))
		plain := h.DataPageHeaderV2.Valid && h.DataPageHeaderV2.V.IsCompressed.Valid && !h.DataPageHeaderV2.V.IsCompressed.V
		if holds := declaredSize(file, m.Codec, at+levels, packed-levels); !plain && holds > uint64(size) {
			return broken(fmt.Sprintf("is of %d bytes whose values are %d", size, holds))
		}
		at += packed
		pages++
	}
	return nil
}

// packedSize is how many bytes compressed ones say they hold, 0 if they do not.
func declaredSize(file io.ReaderAt, codec format.CompressionCodec, at, size int64) uint64 {
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
