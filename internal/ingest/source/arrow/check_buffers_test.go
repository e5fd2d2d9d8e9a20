package arrow

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
)

func TestNullsThatAreNotCountedAreFound(t *testing.T) {
	list := array.NewData(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64), 2, []*memory.Buffer{nil}, []arrow.ArrayData{loadtest.HalfNull(1)}, 0, 0)
	bare := array.NewData(arrow.PrimitiveTypes.Float64, 4, []*memory.Buffer{nil, loadtest.HalfNull(0).Buffers()[1]}, nil, 3, 0)
	if said, n := miscounted(array.MakeFromData(bare)); said != 3 || n != 0 {
		t.Error(said, n)
	}
	if said, n := miscounted(array.MakeFromData(list)); said != 1 || n != 2 { // which Go's writer counts anew
		t.Error(said, n)
	}
}
