package gather

import (
	"unsafe"

	"github.com/tensorcache/tensorcache/layout"
)

// MarkMissing sets missing[i] to 1 if value i is missing, else to 0. Only floats can be missing:
// they are NaN then. values are the bytes of values of the dtype, aligned for it.
func MarkMissing(dtype layout.DType, values, missing []byte) {
	switch dtype {
	case layout.Float16:
		markHalves(asSlice[layout.Half](values), missing)
	case layout.Float32:
		markNaN(asSlice[float32](values), missing)
	case layout.Float64:
		markNaN(asSlice[float64](values), missing)
	default:
		clear(missing)
	}
}

// ReplaceMissing replaces missing values.
func ReplaceMissing(dtype layout.DType, values []byte, by float64) {
	switch dtype {
	case layout.Float16:
		replaceHalves(asSlice[layout.Half](values), layout.HalfOf(by))
	case layout.Float32:
		replaceNaN(asSlice[float32](values), float32(by))
	case layout.Float64:
		replaceNaN(asSlice[float64](values), by)
	}
}

func markNaN[T float32 | float64](values []T, missing []byte) {
	for i := range missing {
		v, isMissing := values[i], byte(0)
		if v != v {
			isMissing = 1
		}
		missing[i] = isMissing
	}
}

func replaceNaN[T float32 | float64](values []T, by T) {
	for i, v := range values {
		if v != v {
			values[i] = by
		}
	}
}

func markHalves(values []layout.Half, missing []byte) {
	for i := range missing {
		isMissing := byte(0)
		if values[i].IsNaN() {
			isMissing = 1
		}
		missing[i] = isMissing
	}
}

func replaceHalves(values []layout.Half, by layout.Half) {
	for i, v := range values {
		if v.IsNaN() {
			values[i] = by
		}
	}
}

// asSlice returns bytes as values.
func asSlice[T any](b []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}
