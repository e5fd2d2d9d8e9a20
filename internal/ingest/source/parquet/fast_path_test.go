package parquet

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// TestIndicesEqualABitwiseEncoding encodes dictionary indices bit by bit, as the format defines,
// and decodes them in parts of any size.
func TestIndicesEqualABitwiseEncoding(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		width := rapid.IntRange(1, maxIndexBits).Draw(r, "width")
		dictionary := make([]float64, rapid.IntRange(1, min(1<<width, 5000)).Draw(r, "entries"))
		for i := range dictionary {
			dictionary[i] = float64(i) + 0.25
		}
		index := rapid.IntRange(0, len(dictionary)-1)
		page, want := []byte{byte(width)}, []float64(nil)
		for range rapid.IntRange(1, 5).Draw(r, "runs") {
			if rapid.Bool().Draw(r, "repeated") {
				at, n := index.Draw(r, "index"), rapid.IntRange(1, 100).Draw(r, "n")
				page = binary.AppendUvarint(page, uint64(n)<<1)
				page = append(page,
					binary.LittleEndian.AppendUint32(nil, uint32(at))[:(width+7)/8]...)
				want = append(want, slices.Repeat([]float64{dictionary[at]}, n)...)
				continue
			}
			groups := rapid.IntRange(1, 12).Draw(r, "groups")
			page = binary.AppendUvarint(page, uint64(groups)<<1|1)
			packed := make([]byte, groups*width)
			for i := range groups * 8 {
				at := index.Draw(r, "index")
				for bit := range width {
					packed[(i*width+bit)/8] |= byte(at>>bit&1) << ((i*width + bit) % 8)
				}
				want = append(want, dictionary[at])
			}
			page = append(page, packed...)
		}
		read := func(page []byte, dictionary []float64, n int) ([]float64, bool) {
			page = append(slices.Clip(page), 1, 2, 3, 4, 5, 6, 7, 8)[:len(page)]
			x, err := newIndexDecoder(page)
			if err != nil {
				return nil, false
			}
			var got []float64
			for len(got) < n {
				part := make([]float64, min(n-len(got), rapid.IntRange(1, 70).Draw(r, "part")))
				if decodeIndexed(x, part, dictionary) != nil {
					return nil, false
				}
				got = append(got, part...)
			}
			return got, x.atEnd()
		}
		if got, ok := read(page, dictionary, len(want)); !ok || !slices.Equal(got, want) {
			r.Fatalf("got %v, %v, want %v", got, ok, want)
		}
		if _, ok := read(page, dictionary, len(want)+1); ok {
			r.Error("more values were read than the page has")
		}
		if _, ok := read(page[:len(page)-1], dictionary, len(want)); ok {
			r.Error("a truncated page was read")
		}
		greatest := slices.Max(want)
		if _, ok := read(page, dictionary[:int(greatest)], len(want)); ok {
			r.Error("indices outside of the dictionary were read")
		}
	})
}

// fastRecord is a row of columns without nulls, in every form that the fast path supports.
type fastRecord struct {
	A float64  `parquet:"a,plain"`
	B *float64 `parquet:"b,optional,plain"`
	C int64    `parquet:"c,dict"`
	D *float32 `parquet:"d,optional,dict"`
	E int32    `parquet:"e,plain"`
	F uint64   `parquet:"f,dict"`
}

// fastFile returns a Parquet file. If same is true, column A compresses well.
func fastFile(t *testing.T, rows int, same bool, options ...parquet.WriterOption) []byte {
	t.Helper()
	random := rand.New(rand.NewPCG(7, uint64(rows)))
	var b bytes.Buffer
	w := parquet.NewGenericWriter[fastRecord](&b, append(options, parquet.DataPageVersion(1))...)
	records := make([]fastRecord, rows)
	for i := range records {
		v, d := random.NormFloat64(), float32(random.IntN(300))
		if same { // compressible values
			v = float64(i % 50)
		}
		records[i] = fastRecord{A: v, B: &v, C: random.Int64N(1000), D: &d,
			E: int32(random.Uint32()), F: random.Uint64N(5)}
	}
	if _, err := w.Write(records); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// decodeBothWays decodes every column chunk by the fast path and by parquet-go, and reports an
// error if the values differ. It returns how many chunks the fast path decoded, and how many there
// are.
func decodeBothWays(t *testing.T, content []byte) (fast, chunks int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(path, files.NewFile(f), source.Settings{Workers: 1})
	if err != nil {
		f.Close()
		return 0, 0
	}
	defer r.Close()
	p := r.(*parquetFile)
	var buffers fastBuffers
	for i, c := range p.columns {
		typ, err := columnTypeOf(c)
		if err != nil || typ.allNull || p.checkChunks(c, typ) != nil {
			continue
		}
		col := layout.Column{Role: layout.RoleValue, DType: layout.DType(typ.Kind.String())}
		for g := range p.firstRows[1:] {
			rows := p.firstRows[g+1] - p.firstRows[g]
			if rows == 0 || rows > 1<<20 {
				continue
			}
			table := layout.Table{Rows: rows, Columns: []layout.Column{col, col}}
			table.Columns[0].Name, table.Columns[1].Name = "a", "b"
			w, err := layout.Create(t.TempDir(), table)
			if err != nil {
				t.Fatal(err)
			}
			chunks++
			to := source.Target{Want: column.Want{Index: i}, Column: typ.Column}
			chunk := &p.pq.Metadata().RowGroups[g].Columns[c.Index()]
			fastDest := w.Column(0, layout.Random).Buffered()
			to.Dest = column.Sink{ColumnWriter: fastDest}
			nullable := c.MaxDefinitionLevel() > 0
			err = parallel.Guard(path, func() error {
				return decodeFast(p.file, &buffers, to, typ, 0, chunk, c.Compression(), nullable)
			})
			if err == nil {
				fast++
				fastDest.Close()
				to.Dest = column.Sink{ColumnWriter: w.Column(1, layout.Random)}
				other := &generalDecoder{Target: to, typ: typ, rows: rows,
					maxLevel: byte(c.MaxDefinitionLevel())}
				if err := other.read(p.file, &chunk.MetaData,
					p.pq.RowGroups()[g].ColumnChunks()[c.Index()].Pages()); err != nil {
					t.Errorf("column %s, row group %d: the fast path decodes it, parquet-go returns %v", c.Name(), g, err)
				} else if !sameBytes(w.Column(0, layout.Random), w.Column(1, layout.Random)) {
					t.Errorf("column %s, row group %d: its values differ from those of parquet-go",
						c.Name(), g)
				}
			}
			w.Abort()
		}
	}
	return fast, chunks
}

func sameBytes(a, b layout.ColumnWriter) bool {
	switch a.DType.Size() {
	case 4:
		return slices.Equal(layout.Values[uint32](a).Data, layout.Values[uint32](b).Data)
	default:
		return slices.Equal(layout.Values[uint64](a).Data, layout.Values[uint64](b).Data)
	}
}

func TestFastPathDecodesWhatParquetGoDecodes(t *testing.T) {
	for name, codec := range map[string]parquet.WriterOption{
		"none":   parquet.Compression(&parquet.Uncompressed),
		"snappy": parquet.Compression(&parquet.Snappy), "zstd": parquet.Compression(&parquet.Zstd),
		"gzip": parquet.Compression(&parquet.Gzip),
	} {
		for _, same := range []bool{false, true} {
			for _, page := range []int{5000, 100_000} {
				content := fastFile(t, 16_000, same, codec, parquet.PageBufferSize(page),
					parquet.MaxRowsPerRowGroup(12_000))
				if n, all := decodeBothWays(t, content); n != all || n != 12 {
					t.Errorf("%s, pages of %d bytes: %d of %d chunks were decoded by the fast path, want 12", name, page, n, all)
				}
			}
		}
	}
}

// incompressible returns a file of pages whose compressed size is at least their uncompressed size.
// They have neither a checksum nor a dictionary.
func incompressible(t *testing.T, codec string) []byte {
	t.Helper()
	b, err := os.ReadFile("../../load/testdata/stored-" + codec + ".parquet")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFastPathDecodesIncompressiblePages(t *testing.T) {
	for _, codec := range []string{"none", "snappy", "copies"} {
		if n, all := decodeBothWays(t, incompressible(t, codec)); n != 3 || all != 3 {
			t.Errorf("%s: %d of %d chunks were decoded by the fast path, want 3", codec, n, all)
		}
	}
}

func TestFastPathDecodesDamagedChunksAsParquetGoOrRefusesThem(t *testing.T) {
	for name, whole := range map[string][]byte{
		"none": fastFile(t, 600, false, parquet.Compression(&parquet.Uncompressed),
			parquet.PageBufferSize(1000)),
		"snappy": fastFile(t, 600, true, parquet.Compression(&parquet.Snappy),
			parquet.PageBufferSize(1000)),
		"zstd": fastFile(t, 600, false, parquet.Compression(&parquet.Zstd),
			parquet.PageBufferSize(1000)),
		"stored none":   incompressible(t, "none"),
		"stored snappy": incompressible(t, "snappy"),
		"stored copies": incompressible(t, "copies"),
	} {
		fast, chunks := 0, 0
		for seed := range uint64(50) {
			random := rand.New(rand.NewPCG(seed, 3))
			b := slices.Clone(whole)
			for range 1 + random.IntN(3) {
				at := random.IntN(len(b))
				if random.IntN(2) == 0 {
					at = 4 + random.IntN(60) // near the header of the first page
				}
				b[at] = byte(random.IntN(256))
			}
			n, all := decodeBothWays(t, b)
			if fast, chunks = fast+n, chunks+all; t.Failed() {
				t.Fatalf("%s, seed %d", name, seed)
			}
		}
		if fast == 0 || fast == chunks {
			t.Errorf("%s: %d of %d chunks were decoded by the fast path", name, fast, chunks)
		}
	}
}
