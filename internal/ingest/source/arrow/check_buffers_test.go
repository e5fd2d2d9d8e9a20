package arrow

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
)

func TestWrongNullCountsAreFound(t *testing.T) {
	list := array.NewData(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64), 2,
		[]*memory.Buffer{nil}, []arrow.ArrayData{loadtest.HalfNull(1)}, 0, 0)
	bare := array.NewData(arrow.PrimitiveTypes.Float64, 4,
		[]*memory.Buffer{nil, loadtest.HalfNull(0).Buffers()[1]}, nil, 3, 0)
	if declared, n := nullCounts(array.MakeFromData(bare)); declared != 3 || n != 0 {
		t.Error(declared, n)
	}
	// The count of a child array. Arrow's writer for Go would correct it in a file.
	if declared, n := nullCounts(array.MakeFromData(list)); declared != 1 || n != 2 {
		t.Error(declared, n)
	}
}
