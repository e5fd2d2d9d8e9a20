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

// BigArrowStream returns an Arrow stream of record batches, each with three million rows of float64
// column x and bool column b. These are more bytes than the reader buffers in the heap.
func BigArrowStream(t *testing.T, batches int) []byte {
	t.Helper()
	const rows = 3_000_000
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "x", Type: arrow.PrimitiveTypes.Float64},
		{Name: "b", Type: arrow.FixedWidthTypes.Boolean},
	}, nil)
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

// ArrowSchema returns an encoded Arrow schema, as the metadata of a Parquet file contains it.
func ArrowSchema(t rapid.TB, fields []arrow.Field) []byte {
	t.Helper()
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(arrow.NewSchema(fields, nil)))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// HalfNull returns an array of four float64 values, of which two are null, that declares the given
// number of nulls. A number other than 2 makes the array invalid.
func HalfNull(nulls int) arrow.ArrayData {
	values := memory.NewBufferBytes(arrow.Float64Traits.CastToBytes([]float64{1, 2, 3, 4}))
	return array.NewData(arrow.PrimitiveTypes.Float64, 4,
		[]*memory.Buffer{memory.NewBufferBytes([]byte{0b1010}), values}, nil, nulls, 0)
}
