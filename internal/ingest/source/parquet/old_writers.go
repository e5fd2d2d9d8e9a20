package parquet

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/format"
)

// maxDictionaryHeader is the number of bytes that other readers allow for the header that old
// versions of parquet-mr leave out of the size of a column chunk.
const maxDictionaryHeader = 100

// Fields of PageHeader and DataPageHeaderV2 in parquet.thrift.
const (
	pageHeaderV2   = 8
	pageCompressed = 7
)

// writerDefects are the defects of old writers that all readers work around.
type writerDefects struct {
	// parquet-mr before 1.2.9 leaves the header of the dictionary page out of the size of a column
	// chunk (PARQUET-816).
	shortChunks bool
	// parquet-cpp before Arrow 3.0 marks the values of compressed data pages of version 2 as not
	// compressed (ARROW-10353). Later versions have another name, parquet-cpp-arrow.
	wrongFlags bool
}

// defectsOf returns the defects of the writer that a footer names.
func defectsOf(createdBy string) writerDefects {
	name, version, _ := strings.Cut(createdBy, " version ")
	var v [3]int
	_, _ = fmt.Sscanf(version, "%d.%d.%d", &v[0], &v[1], &v[2]) // what is missing is 0
	before := func(want ...int) bool { return slices.CompareFunc(v[:], want, cmp.Compare) < 0 }
	return writerDefects{
		shortChunks: name == "parquet-mr" && before(1, 2, 9),
		wrongFlags:  name == "parquet-cpp" && before(2, 0, 0),
	}
}

// patchedFile is a file of which some bytes are replaced.
type patchedFile struct {
	io.ReaderAt
	patches []patch // by offset
}

// patch is the byte at an offset.
type patch struct {
	at int64
	to byte
}

// ReadAt reads from offset at.
func (f *patchedFile) ReadAt(p []byte, at int64) (n int, err error) {
	n, err = f.ReaderAt.ReadAt(p, at)
	i, _ := slices.BinarySearchFunc(f.patches, at, func(a patch, at int64) int {
		return cmp.Compare(a.at, at)
	})
	for ; i < len(f.patches) && f.patches[i].at < at+int64(n); i++ {
		p[f.patches[i].at-at] = f.patches[i].to
	}
	return n, err
}

// repair works around the defects of the file's writer in the column chunks of some columns. It
// must return before a page of them is read.
func (p *parquetFile) repair(columns []int) {
	defects := defectsOf(p.pq.Metadata().CreatedBy)
	if defects == (writerDefects{}) {
		return
	}
	p.pages.patches = nil
	for g := range p.pq.Metadata().RowGroups {
		for _, i := range columns {
			p.repairChunk(&p.columns[i].chunk(g).MetaData, defects)
		}
	}
	slices.SortFunc(p.pages.patches, func(a, b patch) int { return cmp.Compare(a.at, b.at) })
	p.pages.patches = slices.Compact(p.pages.patches)
}

// repairChunk works around the defects of a writer in a column chunk. If the chunk has no valid
// pages, it changes nothing, and the decoder returns the error.
func (p *parquetFile) repairChunk(m *format.ColumnMetaData, defects writerDefects) {
	begin := chunkOffset(m)
	end := begin + m.TotalCompressedSize
	if defects.shortChunks {
		end = min(end+maxDictionaryHeader, p.size)
	}
	at, patches := begin, []patch(nil)
	for left := m.NumValues; left > 0; {
		h, size, err := headerAt(p.file, at, end)
		if err != nil || h.CompressedPageSize < 0 {
			return
		}
		if v := h.DataPageHeaderV2.V; defects.wrongFlags && m.Codec != format.Uncompressed &&
			v.IsCompressed.Valid && !v.IsCompressed.V {
			flag, err := flagOffset(p.file, at, size)
			if err != nil {
				return
			}
			patches = append(patches, flag)
		}
		at += size + int64(h.CompressedPageSize)
		left -= int64(h.DataPageHeader.V.NumValues) + int64(h.DataPageHeaderV2.V.NumValues)
	}
	if missing := at - begin - m.TotalCompressedSize; defects.shortChunks && missing > 0 &&
		at <= end {
		m.TotalCompressedSize += missing
		m.TotalUncompressedSize += missing
	}
	p.pages.patches = append(p.pages.patches, patches...)
}

// headerAt returns the page header at an offset of a file, and its size in bytes. The column chunk
// ends at end.
func headerAt(file io.ReaderAt, at, end int64) (h format.PageHeader, size int64, err error) {
	section := io.NewSectionReader(file, at, end-at)
	r := bufio.NewReaderSize(section, pageBuffer)
	if err := newThriftDecoder(r, max(0, end-at)).Decode(&h); err != nil {
		return h, 0, err
	}
	read, err := section.Seek(0, io.SeekCurrent)
	return h, read - int64(r.Buffered()), err
}

// flagOffset returns the patch that marks the values of the page as compressed. Its header of size
// bytes is at an offset. The value of a boolean field is its type in Thrift's compact protocol.
func flagOffset(file io.ReaderAt, at, size int64) (flag patch, err error) {
	header := make([]byte, size)
	if _, err := file.ReadAt(header, at); err != nil {
		return flag, err
	}
	w := compactWalker{bytes: header}
	w.field = func(field int, kind byte) {
		if slices.Equal(w.path, []int16{pageHeaderV2, pageCompressed}) && kind == compactFalse {
			flag = patch{at + int64(field), header[field]&^15 | compactTrue}
		}
	}
	err = w.walkStruct()
	return flag, err
}
