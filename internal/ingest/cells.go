package ingest

import (
	"math"
	"slices"
	"unsafe"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/layout"
)

// maxRows bounds what a header may announce; products with it do not overflow.
const maxRows = 1 << 44

// checkCells finds a value that no column of the kind may hold: a truth value that is neither 0 nor 1, a NaT.
func checkCells[S column.Storable](k column.Kind, block []S) (bad int) {
	switch block := any(block).(type) {
	case []uint8:
		if k == column.KindBool {
			return slices.IndexFunc(block, func(v uint8) bool { return v > 1 })
		}
	case []int64:
		if k == column.KindTime || k == column.KindDuration {
			return slices.Index(block, math.MinInt64)
		}
	}
	return -1
}

// bytesOf sees values as bytes.
func bytesOf[S column.Storable](v []S) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}

// notANumber is NaN where S is a float type.
func notANumber[S column.Storable]() (nan S, ok bool) {
	switch p := any(&nan).(type) {
	case *float32:
		*p, ok = float32(column.NaN), true
	case *float64:
		*p, ok = column.NaN, true
	case *layout.Half:
		*p, ok = layout.HalfOf(column.NaN), true
	}
	return nan, ok
}
