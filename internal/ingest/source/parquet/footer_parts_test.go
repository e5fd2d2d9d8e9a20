package parquet

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// nestedRow has fields of several columns between plain ones.
type nestedRow struct {
	A     int64 `parquet:"a"`
	Group struct {
		B     float64 `parquet:"b"`
		Words []struct {
			C string `parquet:"c"`
			D int32  `parquet:"d"`
		} `parquet:"words,list"`
	} `parquet:"group"`
	E float32 `parquet:"e"`
	F *int32  `parquet:"f,optional"`
	G int64   `parquet:"g,timestamp(microsecond)"`
}

// pagesOf returns the values of a column's chunks, as parquet-go reads them.
func pagesOf(t *testing.T, c parquetColumn) (values []parquet.Value) {
	t.Helper()
	for _, g := range c.file.RowGroups() {
		pages := g.ColumnChunks()[c.Index()].Pages()
		for {
			page, err := pages.ReadPage()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			block := make([]parquet.Value, page.NumValues())
			if _, err := page.Values().ReadValues(block); err != nil && err != io.EOF {
				t.Fatal(err)
			}
			for _, v := range block { // the index is that in the part
				values = append(values, v.Clone().Level(v.RepetitionLevel(), v.DefinitionLevel(), 0))
			}
		}
		if err := pages.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return values
}

// TestFilesInPartsAreTheWholeFile opens a file as files of few columns each.
func TestFilesInPartsAreTheWholeFile(t *testing.T) {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[nestedRow](&b, parquet.MaxRowsPerRowGroup(5),
		parquet.SortingWriterConfig(parquet.SortingColumns(parquet.Ascending("g"))))
	for i := range 12 {
		row := nestedRow{A: int64(i), E: float32(i) / 2, G: int64(i) * 1e6}
		row.Group.B = float64(i) * 3
		if n := int32(i); i%3 > 0 {
			row.F = &n
		}
		if _, err := w.Write([]nestedRow{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := editFooter(t, b.Bytes(), func(m *format.FileMetaData) {
		for range 7 {
			m.ColumnOrders = append(m.ColumnOrders,
				format.ColumnOrder{Value: &format.TypeDefinedOrder{}})
		}
	})
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	openIn := func(most int) (*parquetFile, error) {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return open(path, files.NewFile(f), source.Settings{Workers: 1}, most)
	}
	whole, err := openIn(maxFileColumns)
	if err != nil {
		t.Fatal(err)
	}
	_, err = openIn(2)
	loadtest.Refused(t, err, `column "group": has 3 columns within it, at most 2 are read`,
		"without the column")
	for most, parts := range map[int]int{3: 3, 4: 2, 5: 2, 6: 2, 7: 1} {
		p, err := openIn(most)
		if err != nil {
			t.Fatal(err)
		}
		opened := map[*parquet.File]bool{}
		for _, c := range p.columns {
			opened[c.file] = true
		}
		if len(opened) != parts || !reflect.DeepEqual(p.header, whole.header) || p.Rows() != 12 {
			t.Fatalf("at most %d columns: %d parts, columns %q, %d rows", most, len(opened), p.header,
				p.Rows())
		}
		for i, c := range p.columns {
			want := whole.columns[i]
			typ, err := columnTypeOf(c)
			wantType, wantErr := columnTypeOf(want)
			if typ != wantType || (err == nil) != (wantErr == nil) {
				t.Errorf("at most %d columns: %q is %v, %v, want %v, %v", most, c.Name(), typ, err,
					wantType, wantErr)
			}
			if !c.Leaf() {
				continue
			}
			for g := range p.pq.RowGroups() {
				if !reflect.DeepEqual(c.chunk(g).MetaData, want.chunk(g).MetaData) {
					t.Errorf("at most %d columns: another chunk of %q", most, c.Name())
				}
				a, b, ok := p.Bounds(i, g, typ.Column)
				if x, y, wantOK := whole.Bounds(i, g, typ.Column); a != x || b != y || ok != wantOK {
					t.Errorf("at most %d columns: bounds of %q are %v, %v, want %v, %v", most,
						c.Name(), a, b, x, y)
				}
			}
			if got := pagesOf(t, c); !reflect.DeepEqual(got, pagesOf(t, want)) {
				t.Errorf("at most %d columns: values of %q are %v", most, c.Name(), got)
			}
		}
	}
}
