package loadtest

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// EditParquet returns a Parquet file whose pages and footer are edited. page gets the header and
// the bytes of each page and returns the new bytes; it may change the header. footer is called
// last. It gets the sizes in bytes of the header of each column chunk's first page, row group by
// row group. Both may be nil.
func EditParquet(t testing.TB, file []byte,
	page func(h *format.PageHeader, m *format.ColumnMetaData, body []byte) []byte,
	footer func(meta *format.FileMetaData, firstHeaders []int),
) []byte {
	t.Helper()
	end := len(file) - 8
	begin := end - int(binary.LittleEndian.Uint32(file[end:]))
	var meta format.FileMetaData
	unmarshal(t, file[begin:end], &meta)
	out := []byte("PAR1")
	var firstHeaders []int
	for g := range meta.RowGroups {
		for i := range meta.RowGroups[g].Columns {
			m := &meta.RowGroups[g].Columns[i].MetaData
			at := m.DataPageOffset
			if m.DictionaryPageOffset > 0 {
				at = min(at, m.DictionaryPageOffset)
			}
			chunk := file[at:][:m.TotalCompressedSize]
			start, first := len(out), true
			for len(chunk) > 0 {
				var h format.PageHeader
				chunk = unmarshal(t, chunk, &h)
				body := bytes.Clone(chunk[:h.CompressedPageSize])
				chunk = chunk[h.CompressedPageSize:]
				if page != nil {
					body = page(&h, m, body)
				}
				h.CRC = 0
				h.CompressedPageSize = int32(len(body))
				header := marshal(t, &h)
				if first {
					firstHeaders, first = append(firstHeaders, len(header)), false
				}
				if h.Type == format.DictionaryPage {
					m.DictionaryPageOffset = int64(len(out))
					m.DataPageOffset = int64(len(out) + len(header) + len(body))
				} else if m.DictionaryPageOffset == 0 && start == len(out) {
					m.DataPageOffset = int64(len(out))
				}
				out = append(append(out, header...), body...)
			}
			m.TotalCompressedSize = int64(len(out) - start)
		}
	}
	if footer != nil {
		footer(&meta, firstHeaders)
	}
	b := marshal(t, &meta)
	out = append(out, b...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(b))), "PAR1"...)
}

// unmarshal decodes a value of Parquet's metadata and returns the bytes after it.
func unmarshal(t testing.TB, b []byte, to any) (rest []byte) {
	t.Helper()
	r := new(thrift.CompactProtocol).NewReaderFromBytes(bytes.Clone(b))
	if err := thrift.NewDecoder(r).Decode(to); err != nil {
		t.Fatal(err)
	}
	return b[r.BytesRead():]
}

// marshal encodes a value of Parquet's metadata.
func marshal(t testing.TB, v any) []byte {
	t.Helper()
	b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
