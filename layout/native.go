package layout

import (
	"fmt"
	"unsafe"

	"github.com/tensorcache/tensorcache/internal/moments"
)

// native has the operations on the values of a dtype that depend on the Go type in which they are
// stored.
type native struct {
	// cells returns values as [Cells] does.
	cells func(b []byte) []any
	// addStatistics adds a block to a column's statistics and returns the number of its missing
	// values.
	addStatistics func(o *columnStatistics, block []byte) (missing int64)
	// featureSummary returns a feature of a column, to compute extremes.
	featureSummary func(d *Data, c *ManifestColumn, feature int64) (featureSummary, error)
}

// natives has an entry for each dtype.
var natives = map[DType]native{
	Float16: {
		cells: func(b []byte) []any {
			return cells(b,
				func(v Half) any { return floatCell(v.Float32()) })
		},
		addStatistics: func(s *columnStatistics, block []byte) int64 {
			return addHalves(s, cast[Half](block))
		},
		featureSummary: summaryOf(extremeOfHalves),
	},
	Float32: number[float32](), Float64: number[float64](),
	Int8: number[int8](), Int16: number[int16](), Int32: number[int32](), Int64: number[int64](),
	Uint8: number[uint8](), Uint16: number[uint16](), Uint32: number[uint32](),
	Uint64: number[uint64](),
	Bool: {
		cells: func(b []byte) []any {
			return cells(b,
				func(v uint8) any { return v != 0 })
		},
		addStatistics:  number[uint8]().addStatistics,
		featureSummary: number[uint8]().featureSummary,
	},
	Timestamp: withoutStatistics, Duration: withoutStatistics,
	Text: {
		cells: number[int32]().cells,
		addStatistics: func(_ *columnStatistics, block []byte) int64 {
			return missingCodes(
				cast[int32](block))
		},
		featureSummary: summaryOf(extremeOfCodes),
	},
}

// number returns the operations of a dtype that is a number in Go.
func number[T moments.Number]() native {
	return native{
		cells: func(b []byte) []any { return cells(b, cellOf[T]) },
		addStatistics: func(s *columnStatistics, block []byte) int64 {
			return addValues(s, cast[T](block))
		},
		featureSummary: summaryOf(extremeOfNumbers[T]),
	}
}

// withoutStatistics has the operations of times, which have neither statistics nor missing values.
var withoutStatistics = native{
	cells:          number[int64]().cells,
	addStatistics:  func(*columnStatistics, []byte) int64 { return 0 },
	featureSummary: number[int64]().featureSummary,
}

// Number is a Go type that converts to the others as a number.
type Number interface {
	~float32 | ~float64 | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Native is a Go type in which columns are stored: bool as uint8, timestamps and durations as
// int64, text as int32.
type Native interface{ Number | Half }

// cast returns bytes as values without a copy. It panics if the bytes are not aligned, or not a
// multiple of the value's size.
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
