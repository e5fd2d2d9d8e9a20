package parquet

import (
	"bufio"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// onlyNullPages reports whether a column chunk consists of data pages of version 2 that hold only
// nulls and no byte of values. Spark writes such pages with snappy, which has no empty form, and
// parquet-go fails to decode them.
func onlyNullPages(file io.ReaderAt, m *format.ColumnMetaData, rows int64) bool {
	r := bufio.NewReaderSize(io.NewSectionReader(file, m.DataPageOffset, m.TotalCompressedSize),
		pageBuffer)
	var protocol thrift.CompactProtocol
	decoder := thrift.NewDecoder(protocol.NewReader(r))
	for rows > 0 {
		var h format.PageHeader
		if decoder.Decode(&h) != nil || h.Type != format.DataPageV2 || !h.DataPageHeaderV2.Valid {
			return false
		}
		d, size := &h.DataPageHeaderV2.V, h.CompressedPageSize
		levels := make([]byte, max(0, min(int64(size), m.TotalCompressedSize)))
		if d.NumValues <= 0 || d.NumNulls != d.NumValues || int64(d.NumValues) > rows ||
			d.RepetitionLevelsByteLength < 0 || d.DefinitionLevelsByteLength < 0 ||
			int64(size) != int64(d.RepetitionLevelsByteLength)+int64(d.DefinitionLevelsByteLength) {
			return false
		}
		if _, err := io.ReadFull(r, levels); err != nil ||
			h.CRC != 0 && crc32.ChecksumIEEE(levels) != uint32(h.CRC) {
			return false
		}
		present := make([]uint8, d.NumValues)
		if decodeHybrid(levels[d.RepetitionLevelsByteLength:], present) != nil {
			return false
		}
		for _, l := range present {
			if l != 0 {
				return false
			}
		}
		rows -= int64(d.NumValues)
	}
	return true
}
