package arrow

import (
	"bytes"
	"os"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
)

func TestBatchesOfAnySizeUseTheSameMemory(t *testing.T) {
	b := loadtest.BigArrowStream(t, 4)
	mem := &batchMemory{dir: t.TempDir()}
	defer mem.close()
	r, err := ipc.NewReader(bytes.NewReader(b), ipc.WithAllocator(mem))
	if err != nil {
		t.Fatal(err)
	}
	batches := 0
	for r.Next() {
		if batches++; mem.heap > maxHeapBytes || len(mem.files) == 0 || len(mem.files) > 2 {
			t.Errorf("%d bytes in memory and %d files of %d bytes", mem.heap, len(mem.files),
				minFileBytes)
		}
	}
	if r.Err() != nil || batches != 4 {
		t.Fatalf("%d batches: %v", batches, r.Err())
	}
	r.Release()
	for _, p := range mem.files {
		if p.live != 0 || p.used != 0 {
			t.Errorf("%d buffers of %d bytes are still in a file", p.live, p.used)
		}
	}
	if mem.heap != 0 {
		t.Errorf("%d bytes of memory are still in use", mem.heap)
	}
	if left, err := os.ReadDir(mem.dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
