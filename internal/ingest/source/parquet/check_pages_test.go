package parquet

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// TestPagesThatDeclareTooMuchAreRefused compares page headers with their column chunk: none may
// cause a larger allocation than a valid file does.
func TestPagesThatDeclareTooMuchAreRefused(t *testing.T) {
	page := func(packed, size, values int32, v2, plain bool, data ...byte) []byte {
		h := format.PageHeader{CompressedPageSize: packed, UncompressedPageSize: size}
		if v2 {
			h.Type, h.DataPageHeaderV2.Valid = format.DataPageV2, true
			h.DataPageHeaderV2.V.NumValues,
				h.DataPageHeaderV2.V.DefinitionLevelsByteLength = values, 1
			h.DataPageHeaderV2.V.IsCompressed.Valid,
				h.DataPageHeaderV2.V.IsCompressed.V = true, !plain
			data = append([]byte{0}, data...)
		} else {
			h.DataPageHeader.Valid, h.DataPageHeader.V.NumValues = true, values
		}
		b, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
		if err != nil {
			t.Fatal(err)
		}
		return append(b, data...)
	}
	frame, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer frame.Close()
	zeros := frame.EncodeAll(make([]byte, 1000), nil)
	const packed = 20
	snappy := func(declared uint64) []byte {
		return append(binary.AppendUvarint(nil, declared), make([]byte, packed)...)[:packed]
	}
	for name, c := range map[string]struct {
		codec format.CompressionCodec
		pages []byte
		want  string
	}{
		"two pages": {format.Snappy,
			append(page(packed, 100, 60, false, false, snappy(100)...),
				page(packed, 100, 40, false, false, snappy(100)...)...), ""},
		"after the end of the chunk": {format.Snappy, page(packed+1, 100, 100, false, false,
			snappy(100)...), "page 1: is of 21 and 100 bytes in a column of 20"},
		"negative size": {format.Snappy, page(-1, 100, 100, false, false, snappy(100)...),
			"page 1: is of -1 and"},
		"larger than the column": {format.Snappy, page(packed, minPageLimit+1, 100, false, false,
			snappy(100)...), "page 1: is of 20 and 16777217 bytes"},
		"too many values": {format.Snappy,
			append(page(packed, 100, 60, false, false, snappy(100)...),
				page(packed, 100, 41, false, false, snappy(100)...)...),
			"page 2: holds 41 values for 40 rows"},
		"snappy's own size": {format.Snappy,
			page(packed, 100, 100, false, false, snappy(101)...),
			"page 1: is of 100 bytes whose values are 101"},
		"snappy's own size after levels": {format.Snappy,
			page(packed+1, 100, 100, true, false, snappy(101)...),
			"page 1: is of 100 bytes whose values are 101"},
		"not compressed": {format.Snappy,
			page(packed+1, 100, 100, true, true, snappy(101)...), ""},
		"zstd's own size": {format.Zstd, page(int32(len(zeros)), 999, 100, false, false,
			zeros...), "page 1: is of 999 bytes whose values are 1000"},
		"valid zstd": {format.Zstd, page(int32(len(zeros)), 1000, 100, false, false,
			zeros...), ""},
		"no header": {format.Zstd, bytes.Repeat([]byte{0xff}, 40),
			"page 1: its header cannot be read"},
	} {
		m := format.ColumnMetaData{Codec: c.codec, DataPageOffset: 4,
			TotalCompressedSize: int64(len(c.pages)), TotalUncompressedSize: 500}
		_, err := checkPages(bytes.NewReader(append([]byte("PAR1"), c.pages...)), &m, 100)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		err = (&parquetFile{}).locate(err, 0, source.Target{})
		t.Run(name, func(t *testing.T) { loadtest.Refused(t, err, c.want, "damaged") })
	}
}
