package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/parquet-go/parquet-go"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put"
	"github.com/tensorcache/tensorcache/internal/ingest/source/put/puttest"
	"github.com/tensorcache/tensorcache/layout"
)

// TestMissingCellsOfTensorsAreRecorded fills a tensor column of several tiles, in both layouts. The
// generation must record the rows that had missing cells, and how many.
func TestMissingCellsOfTensorsAreRecorded(t *testing.T) {
	const rows, width = 2*16_384 + 5, 3
	want := layout.MissingRows{{Row: 7, Rows: 1, Cells: 1}, {Row: 16_384 - 1, Rows: 2, Cells: 3},
		{Row: rows - 1, Rows: 1, Cells: 2}}
	v := make([]float32, rows*width)
	for i := range v {
		v[i] = float32(i % 10)
	}
	v[12*width] = float32(math.Inf(1)) // Inf - Inf is NaN, but no value is missing here
	v[12*width+1] = float32(math.Inf(-1))
	for _, m := range want {
		for row := m.Row; row < m.Row+m.Rows; row++ {
			for i := range m.Cells {
				v[row*width+i] = float32(math.NaN())
			}
		}
	}
	for _, how := range []string{layout.Columns, layout.Packed} {
		c, b := puttest.ColumnBytes(t, "a", "float32", []int64{rows, width}, v)
		d, more := puttest.ColumnBytes(t, "b", "float32", []int64{rows}, v[:rows])
		dir, err := loadPut(t,
			option.Options{Layout: how,
				Fill: option.ByColumn(map[string]option.Fill{"a": option.FillWith(-1)})},
			put.Header{Format: put.FormatColumns, Columns: []put.Column{c, d}}, append(b, more...))
		if err != nil {
			t.Fatal(err)
		}
		l := loadtest.OpenDir(t, dir)
		a, err := l.Manifest.Column("a")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := l.BeforeFill(a); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v: %v", how, got, want, err)
		}
		cells, err := l.FilledCells(a)
		if err != nil || len(cells) != width {
			t.Fatalf("%s: cells of %d features, want %d: %v", how, len(cells), width, err)
		}
		for feature := range int64(width) {
			var rowsOf layout.MissingRows
			for _, m := range want {
				if feature < m.Cells {
					rowsOf = append(rowsOf, layout.MissingRun{Row: m.Row, Rows: m.Rows, Cells: 1})
				}
			}
			if !slices.Equal(cells[feature], rowsOf) {
				t.Errorf("%s: feature %d: %v, want %v", how, feature, cells[feature], rowsOf)
			}
		}
		if filled := loadtest.Values[float32](l, "a"); filled[7*width] != -1 ||
			filled[7*width+1] != v[7*width+1] {
			t.Errorf("%s: row 8 is %v", how, filled[7*width:8*width])
		}
	}
}

// TestAnAppendToAnEarlierVersionStoresNoCells appends to a generation that lists the rows of which
// some values were filled, but not which values. The appended one must not list them either.
func TestAnAppendToAnEarlierVersionStoresNoCells(t *testing.T) {
	nan := float32(math.NaN())
	a, b := puttest.ColumnBytes(t, "a", "float32", []int64{2, 2}, []float32{1, 2, nan, 4})
	dir, err := loadPut(t,
		option.Options{Fill: option.All(option.FillWith(-1))},
		put.Header{Format: put.FormatColumns, Columns: []put.Column{a}}, b)
	if err != nil {
		t.Fatal(err)
	}
	k, err := openBase(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Data.Close()
	column := &k.Data.Manifest.Columns[0]
	for _, stored := range []bool{true, false} {
		if !stored {
			column.Prepared.Before.Cells = nil
		}
		delta := loadtest.OpenDir(t, dir)
		before, err := k.beforeFill(t.Context(), column, delta.Data, []rowRange{{true, 0, 0, 2}, {false, 2, 0, 2}})
		if err != nil {
			t.Fatal(err)
		}
		if before.Missing != 2 || (before.Cells != nil) != stored {
			t.Errorf("the cells of the generation are stored: %v: %+v", stored, before)
		}
	}
}

// TestMissingFloatsOfEverySourceAreTheCanonicalNaN loads missing values from every kind of source.
// They must have the bits of numpy's NaN, so that equal content has equal digests.
func TestMissingFloatsOfEverySourceAreTheCanonicalNaN(t *testing.T) {
	const nan = 0x7ff8 << 48
	want := []uint64{math.Float64bits(1.5), nan, nan}
	digests := map[string]string{}
	check := func(name string, l loadtest.Loaded) {
		t.Helper()
		got := loadtest.Values[float64](l, "a")
		for i, v := range got {
			if math.Float64bits(v) != want[i] {
				t.Errorf("%s: row %d is %x, want %x", name, i+1, math.Float64bits(v), want[i])
			}
		}
		digests[l.Manifest.Digest] = name
	}
	type row struct {
		A *float64 `parquet:"a,optional"`
	}
	one := 1.5
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	if _, err := w.Write([]row{{&one}, {}, {}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	check("Parquet",
		mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "x.parquet", b.String())}}))
	check("CSV",
		mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "x.csv",
			"a\n1.5\nNA\n\"\"\n")}}))
	bits := memory.NewBufferBytes([]byte{0b001})
	floats := array.NewData(arrow.PrimitiveTypes.Float64, 3,
		[]*memory.Buffer{bits,
			memory.NewBufferBytes(arrow.Float64Traits.CastToBytes([]float64{1.5, 7, 7}))}, nil, 2,
		0)
	record := array.NewRecord(
		arrow.NewSchema([]arrow.Field{{Name: "a", Type: floats.DataType(), Nullable: true}}, nil),
		[]arrow.Array{array.MakeFromData(floats)}, 3)
	var s bytes.Buffer
	aw := ipc.NewWriter(&s, ipc.WithSchema(record.Schema()))
	if err := errors.Join(aw.Write(record), aw.Close()); err != nil {
		t.Fatal(err)
	}
	check("Arrow",
		mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "x.arrows", s.String())}}))
	c, sent := puttest.ColumnBytes(t, "a", "float64", []int64{3},
		[]float64{1.5, math.Float64frombits(nan), math.Float64frombits(nan)})
	dir, err := loadPut(t, option.Options{},
		put.Header{Format: put.FormatColumns, Columns: []put.Column{c}}, sent)
	if err != nil {
		t.Fatal(err)
	}
	check("put", loadtest.OpenDir(t, dir))
	if len(digests) != 1 {
		t.Errorf("%d digests of the same content: %v", len(digests), digests)
	}
	want = []uint64{nan, math.Float64bits(2), nan}
	check("a difference without a value before it",
		mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "x.csv",
			"i,a\nx,1\nx,3\ny,\n")}, ItemID: []string{"i"}, Diff: option.All(true),
			DType: option.Floats("float64")}))
	want = append(want, math.Float64bits(2))
	check("inserted rows, and the mean of missing values", mustLoad(t, option.Options{
		Sources: []string{loadtest.File(t, "x.csv", "t,a\n1,\n1,\n3,2.0\n3,2.0\n7,2.0\n")},
		Time:    "t", Duplicates: option.DuplicatesMean, Regrid: json.RawMessage("2"),
	}))
}
