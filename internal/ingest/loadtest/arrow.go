package loadtest

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"pgregory.net/rapid"
)

// BigArrowStream returns batches of three million float64 and as many bools each: more than a reader
// keeps in the heap.
func BigArrowStream(t *testing.T, batches int) []byte {
	t.Helper()
	const rows = 3_000_000
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}, {Name: "b", Type: arrow.FixedWidthTypes.Boolean}}, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	for k := range batches {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		x, bools := b.Field(0).(*array.Float64Builder), b.Field(1).(*array.BooleanBuilder)
		x.Reserve(rows)
		bools.Reserve(rows)
		for i := range rows {
			x.UnsafeAppend(float64(k*rows + i))
			bools.UnsafeAppend(i%3 == 0)
		}
		rec := b.NewRecord()
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
		rec.Release()
		b.Release()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// ArrowSchema returns a schema as it stands in the metadata of a Parquet file.
func ArrowSchema(t rapid.TB, fields []arrow.Field) []byte {
	t.Helper()
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(arrow.NewSchema(fields, nil)))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// HalfNull are the nulls of four values, of which it says so many are null.
func HalfNull(nulls int) arrow.ArrayData {
	values := memory.NewBufferBytes(arrow.Float64Traits.CastToBytes([]float64{1, 2, 3, 4}))
	return array.NewData(arrow.PrimitiveTypes.Float64, 4, []*memory.Buffer{memory.NewBufferBytes([]byte{0b1010}), values}, nil, nulls, 0)
}
