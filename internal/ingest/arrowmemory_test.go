package ingest

import (
	"bytes"
	"os"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
)

// bigStream are batches of three million float64 and as many bools, which have more than batchHeap bytes.
func bigStream(t *testing.T, batches int) []byte {
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

func TestBatchesOfAnySizeTakeTheSameMemory(t *testing.T) {
	b := bigStream(t, 4)
	mem := &batchMemory{dir: t.TempDir()}
	defer mem.close()
	r, err := ipc.NewReader(bytes.NewReader(b), ipc.WithAllocator(mem))
	if err != nil {
		t.Fatal(err)
	}
	batches := 0
	for r.Next() {
		if batches++; mem.heap > batchHeap || len(mem.pieces) == 0 || len(mem.pieces) > 2 {
			t.Errorf("%d bytes in memory and %d files of %d bytes", mem.heap, len(mem.pieces), batchPieceBytes)
		}
	}
	if r.Err() != nil || batches != 4 {
		t.Fatalf("%d batches: %v", batches, r.Err())
	}
	r.Release()
	for _, p := range mem.pieces {
		if p.count != 0 || p.used != 0 {
			t.Errorf("a file still holds %d buffers of %d bytes", p.count, p.used)
		}
	}
	if mem.heap != 0 {
		t.Errorf("%d bytes of memory are still in use", mem.heap)
	}
	if left, err := os.ReadDir(mem.dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}

	l := mustLoad(t, Options{Sources: []string{loadtest.File(t, "x.arrows", string(b))}})
	x, bools := values[float64](l, "x"), values[uint8](l, "b")
	for i := range x {
		if x[i] != float64(i) || (bools[i] == 1) != (i%3_000_000%3 == 0) {
			t.Fatalf("row %d holds %v and %d", i, x[i], bools[i])
		}
	}
}
