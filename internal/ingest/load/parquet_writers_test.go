package load

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// addRepetitionLevels gives a data page of version 2 bytes of repetition levels, as some writers do
// in flat columns.
func addRepetitionLevels(h *format.PageHeader, _ *format.ColumnMetaData, body []byte) []byte {
	if !h.DataPageHeaderV2.Valid {
		return body
	}
	levels := []byte{2, 0, 2, 0}
	h.DataPageHeaderV2.V.RepetitionLevelsByteLength = int32(len(levels))
	h.UncompressedPageSize += int32(len(levels))
	return append(bytes.Clone(levels), body...)
}

// compressAll compresses the values of every data page of version 2, also if they become longer.
func compressAll(h *format.PageHeader, m *format.ColumnMetaData, body []byte) []byte {
	v := &h.DataPageHeaderV2.V
	if !h.DataPageHeaderV2.Valid || !v.IsCompressed.Valid || v.IsCompressed.V {
		return body
	}
	v.IsCompressed.V = true
	levels := v.RepetitionLevelsByteLength + v.DefinitionLevelsByteLength
	switch m.Codec {
	case format.Snappy:
		return append(body[:levels:levels], snappy.Encode(nil, body[levels:])...)
	case format.Zstd:
		w, err := zstd.NewWriter(nil)
		if err != nil {
			panic(err)
		}
		defer w.Close()
		return w.EncodeAll(body[levels:], body[:levels:levels])
	}
	return body
}

// flagAsPlain compresses the values of a data page of version 2 and marks them as not compressed,
// as parquet-cpp did.
func flagAsPlain(h *format.PageHeader, m *format.ColumnMetaData, body []byte) []byte {
	body = compressAll(h, m, body)
	h.DataPageHeaderV2.V.IsCompressed.Valid = h.DataPageHeaderV2.Valid
	h.DataPageHeaderV2.V.IsCompressed.V = false
	return body
}

// forgetDictionaryHeaders leaves the headers of dictionary pages out of the sizes of column chunks,
// as parquet-mr did.
func forgetDictionaryHeaders(meta *format.FileMetaData, headers []int) {
	meta.CreatedBy = "parquet-mr version 1.2.8 (build 0)"
	for g := range meta.RowGroups {
		for i := range meta.RowGroups[g].Columns {
			m := &meta.RowGroups[g].Columns[i].MetaData
			if m.DictionaryPageOffset > 0 {
				m.TotalCompressedSize -= int64(headers[0])
				m.TotalUncompressedSize -= int64(headers[0])
			}
			headers = headers[1:]
		}
	}
}

// writtenBy returns a function that names the writer of a file.
func writtenBy(writer string) func(*format.FileMetaData, []int) {
	return func(meta *format.FileMetaData, _ []int) { meta.CreatedBy = writer }
}

// TestParquetOfUnusualWritersLoadsAsOfOthers rewrites files of all types and encodings as writers
// wrote them that other readers read, too.
func TestParquetOfUnusualWritersLoadsAsOfOthers(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(paths) < 10 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		if strings.HasPrefix(filepath.Base(path), "bad-") {
			continue
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := cellTextsOf(mustLoad(t, option.Options{Sources: []string{path}}))
		for name, edited := range map[string][]byte{
			"repetition levels": loadtest.EditParquet(t, file, addRepetitionLevels, nil),
			"parquet-mr":        loadtest.EditParquet(t, file, nil, forgetDictionaryHeaders),
			"parquet-mr 1.2.9": loadtest.EditParquet(t, file, nil,
				writtenBy("parquet-mr version 1.2.9")),
			"parquet-cpp": loadtest.EditParquet(t, file, flagAsPlain,
				writtenBy("parquet-cpp version 1.5.1-SNAPSHOT")),
			"parquet-cpp that sets the flag": loadtest.EditParquet(t, file, compressAll,
				writtenBy("parquet-cpp version 1.5.1-SNAPSHOT")),
		} {
			t.Run(filepath.Base(path)+" of "+name, func(t *testing.T) {
				source := loadtest.File(t, "x.parquet", string(edited))
				got := cellTextsOf(mustLoad(t, option.Options{Sources: []string{source}}))
				if !got.same(want) {
					t.Error("its values differ from those of the file as it was")
				}
			})
		}
	}
}

// TestOnlyOldWritersAreWorkedAround refuses the same pages of writers that did not have the defect.
func TestOnlyOldWritersAreWorkedAround(t *testing.T) {
	file, err := os.ReadFile("testdata/flat-v2-zstd.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for name, edited := range map[string][]byte{
		"another name": loadtest.EditParquet(t, file, flagAsPlain,
			writtenBy("parquet-cpp-arrow version 1.5.1")),
		"another program": loadtest.EditParquet(t, file, flagAsPlain,
			writtenBy("parquet-mr version 1.2.8")),
		"a later version": loadtest.EditParquet(t, file, nil,
			func(m *format.FileMetaData, headers []int) {
				forgetDictionaryHeaders(m, headers)
				m.CreatedBy = "parquet-mr version 1.2.9"
			}),
	} {
		path := loadtest.File(t, "x.parquet", string(edited))
		_, _, err := loadInProcess(t, option.Options{Sources: []string{path}})
		t.Run(name, func(t *testing.T) { loadtest.Refused(t, err, "x.parquet", "damaged") })
	}
}
