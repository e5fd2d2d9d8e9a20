package parquet

import (
	"errors"
	"io"
	"sort"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// onlyLevels reports whether a page is a data page of version 2 that holds nulls and no byte of
// values, although its values are said to be compressed. Spark writes such pages. No codec but zstd
// has an empty form, so that parquet-go cannot decompress them.
func onlyLevels(h *format.PageHeader, codec format.CompressionCodec) bool {
	v := &h.DataPageHeaderV2.V
	plain := v.IsCompressed.Valid && !v.IsCompressed.V
	return h.DataPageHeaderV2.Valid && codec != format.Uncompressed && !plain &&
		v.RepetitionLevelsByteLength >= 0 && v.DefinitionLevelsByteLength >= 0 &&
		int64(h.CompressedPageSize) ==
			int64(v.RepetitionLevelsByteLength)+int64(v.DefinitionLevelsByteLength)
}

// plainPages returns the pages of a column chunk, whose headers checkPages has accepted. The header
// of each page that has only levels says that its values are plain.
func plainPages(file io.ReaderAt, c *parquet.FileColumnChunk, m *format.ColumnMetaData) (
	parquet.Pages, error,
) {
	begin := chunkOffset(m)
	end := begin + m.TotalCompressedSize
	chunk := &splicedFile{ReaderAt: file}
	for at := begin; at < end; {
		h, size, err := headerAt(file, at, end)
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if onlyLevels(&h, m.Codec) {
			v := &h.DataPageHeaderV2.V
			v.IsCompressed, v.Encoding = thrift.New(false), format.Plain
			h.UncompressedPageSize = h.CompressedPageSize
			header, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
			if err != nil {
				return nil, err
			}
			chunk.add(begin, part{bytes: header, size: int64(len(header))})
			chunk.add(begin, part{from: at + size, size: int64(h.CompressedPageSize)})
		} else {
			chunk.add(begin, part{from: at, size: size + int64(h.CompressedPageSize)})
		}
		at += size + int64(h.CompressedPageSize)
	}
	whole := m.TotalCompressedSize
	defer func() { m.TotalCompressedSize = whole }()
	m.TotalCompressedSize = chunk.end() - begin
	return c.PagesFrom(chunk), nil
}

// splicedFile is a file of which one column chunk is replaced by other parts. Only that chunk can
// be read.
type splicedFile struct {
	io.ReaderAt
	parts []part // contiguous
}

// part is size bytes at an offset of a spliced file: bytes, or if they are nil those of the file
// at the offset from.
type part struct {
	at, size int64
	bytes    []byte
	from     int64
}

// end returns the offset at which the parts end.
func (f *splicedFile) end() int64 {
	last := f.parts[len(f.parts)-1]
	return last.at + last.size
}

// add appends a part. The first one is at the offset begin.
func (f *splicedFile) add(begin int64, p part) {
	if p.at = begin; len(f.parts) > 0 {
		p.at = f.end()
	}
	f.parts = append(f.parts, p)
}

// ReadAt reads from offset at.
func (f *splicedFile) ReadAt(b []byte, at int64) (n int, err error) {
	i := sort.Search(len(f.parts), func(i int) bool {
		return f.parts[i].at+f.parts[i].size > at
	})
	for ; n < len(b) && i < len(f.parts) && err == nil; i++ {
		p := &f.parts[i]
		skip := at + int64(n) - p.at
		to := b[n:min(int64(len(b)), int64(n)+p.size-skip)]
		more := 0
		if p.bytes != nil {
			more = copy(to, p.bytes[skip:])
		} else {
			more, err = f.ReaderAt.ReadAt(to, p.from+skip)
		}
		n += more
	}
	if n < len(b) && err == nil {
		err = io.EOF
	}
	return n, err
}
