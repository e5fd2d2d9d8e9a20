package load

import (
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// TestBatchesLargerThanTheHeapLimitAreLoaded loads record batches that the reader decodes into
// scratch files.
func TestBatchesLargerThanTheHeapLimitAreLoaded(t *testing.T) {
	b := loadtest.BigArrowStream(t, 4)
	l := mustLoad(t, option.Options{Sources: []string{loadtest.File(t, "x.arrows", string(b))}})
	x, bools := loadtest.Values[float64](l, "x"), loadtest.Values[uint8](l, "b")
	for i := range x {
		if x[i] != float64(i) || (bools[i] == 1) != (i%3_000_000%3 == 0) {
			t.Fatalf("row %d is %v and %d", i, x[i], bools[i])
		}
	}
}
