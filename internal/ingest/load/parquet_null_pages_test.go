package load

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// nullableRow has a column of each encoding that may have nulls.
type nullableRow struct {
	Plain *float64 `parquet:"plain,optional,plain"`
	Dict  *float64 `parquet:"dict,optional,dict"`
	Split float32  `parquet:"split,optional,split"` // 0 is null
	Text  *string  `parquet:"text,optional,plain"`
	Words *string  `parquet:"words,optional,dict"`
	Delta string   `parquet:"delta,optional,delta"`
	Few   *float32 `parquet:"few,optional,dict"`
}

// TestPagesOfNullsAloneHaveNoValues loads files of which some pages hold nulls alone, and no byte
// of values, as Spark writes them. The values are compressed, which the header may say or not.
func TestPagesOfNullsAloneHaveNoValues(t *testing.T) {
	for _, codec := range []compress.Codec{&parquet.Snappy, &parquet.Gzip, &parquet.Zstd,
		&parquet.Brotli} {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[nullableRow](&b, parquet.Compression(codec),
			parquet.DataPageVersion(2), parquet.PageBufferSize(400))
		for i := range 4000 {
			var r nullableRow
			if i/500%2 == 1 {
				x, y, s := float64(i), float32(i), string(rune('a'+i%20))
				r = nullableRow{&x, &x, y, &s, &s, s, &y}
			}
			if _, err := w.Write([]nullableRow{r}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		path := loadtest.File(t, "x.parquet", b.String())
		want := filesOf(t, option.Options{Sources: []string{path}})
		for _, said := range []bool{false, true} {
			columns := map[string]int{}
			edited := loadtest.EditParquet(t, b.Bytes(), func(h *format.PageHeader,
				m *format.ColumnMetaData, body []byte) []byte {
				v := &h.DataPageHeaderV2.V
				if !h.DataPageHeaderV2.Valid || v.NumNulls != v.NumValues {
					return body
				}
				columns[m.PathInSchema[0]]++
				v.IsCompressed.Valid, v.IsCompressed.V = said, said
				h.UncompressedPageSize = v.DefinitionLevelsByteLength
				return body[:v.DefinitionLevelsByteLength]
			}, nil)
			if len(columns) != 7 {
				t.Fatalf("pages of nulls: %v", columns)
			}
			path := loadtest.File(t, "x.parquet", string(edited))
			if got := filesOf(t, option.Options{Sources: []string{path}}); !maps.Equal(got, want) {
				t.Errorf("%s: the values differ from those of the file as it was", codec)
			}
		}
	}
}

// filesOf loads and returns the files of the result except for the manifest, by name.
func filesOf(t *testing.T, o option.Options) map[string]string {
	t.Helper()
	_, dir, err := loadInProcess(t, o)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		if e.Name() == layout.ManifestFile {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(b)
	}
	return out
}
