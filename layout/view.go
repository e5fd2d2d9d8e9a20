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

// Dest is a column of a generation that is being filled. It is valid until Finish or Abort.
type Dest struct {
	Column
	Rows int64
	// Step is the number of values between the beginnings of neighbouring rows.
	Step int64
	data []byte
	// write writes bytes at an offset of the file, in which data begins at offset; nil where they must go through data.
	write  func(b []byte, at int64) error
	offset int64
	// populate readies bytes of the file to be written through data.
	populate func(at, n int64) (ok bool)
	// rewrites tells that values are written anew where they lie.
	rewrites bool
	// sums adds up what is put; nil where nothing does.
	sums *accumulator
	// collector gathers what is put; nil where it is stored at once.
	collector *collector
}

// Values sees a column's bytes as values of T, whose size must be that of the column's dtype. What is stored there is not summed up
// on the way (see [Writer.DestOnce]).
func Values[T Native](d Dest) Strided[T] {
	d.sums.deferToEnd()
	return values[T](d)
}

func values[T Native](d Dest) Strided[T] {
	return Strided[T]{Data: cast[T](d.data), Step: d.Step, Width: d.values(), Rows: d.Rows}
}

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
