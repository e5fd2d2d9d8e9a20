package layout

import (
	"fmt"
	"unsafe"
)

// Number are the Go types that convert into each other as numbers.
type Number interface {
	~float32 | ~float64 | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Native are the Go types that columns are stored as: bool as uint8, timestamps and durations as int64, text as int32.
type Native interface{ Number | Half }

// cast sees bytes as values. Both come from page-aligned maps and multiples of 64, or from a packed row of the same dtype.
func cast[T Native](b []byte) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	if len(b) == 0 {
		return nil
	}
	if len(b)%size != 0 || uintptr(unsafe.Pointer(&b[0]))%uintptr(size) != 0 {
		panic(fmt.Sprintf("layout: %d bytes at %p are no values of %d bytes", len(b), &b[0], size))
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(b)/size)
}
