package column

import (
	"math"
	"slices"
	"unsafe"

	"github.com/tensorcache/tensorcache/layout"
)

// CheckCells returns the index of the first value that is not one of the kind, a boolean other
// than 0 and 1 or a NaT, and -1 if there is none.
func CheckCells[S Storable](k Kind, block []S) (bad int) {
	switch block := any(block).(type) {
	case []uint8:
		if k == KindBool {
			return slices.IndexFunc(block, func(v uint8) bool { return v > 1 })
		}
	case []int64:
		if k == KindTime || k == KindDuration {
			return slices.Index(block, math.MinInt64)
		}
	}
	return -1
}

// BytesOf returns the bytes of values, in the same memory.
func BytesOf[S Storable](v []S) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}

// NotANumber returns NaN. ok is false if S is not a float type.
func NotANumber[S Storable]() (nan S, ok bool) {
	switch p := any(&nan).(type) {
	case *float32:
		*p, ok = float32(NaN), true
	case *float64:
		*p, ok = NaN, true
	case *layout.Half:
		*p, ok = layout.HalfOf(NaN), true
	}
	return nan, ok
}
