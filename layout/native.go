package layout

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/tensorcache/tensorcache/internal/moments"
)

// native is what is done with the values of a dtype by the Go type that they are stored as.
type native struct {
	// cells are values as JSON shows them (see [Cells]).
	cells func(b []byte) []any
	// see takes a block into a column's statistics and tells how many of its values are missing.
	observe func(o *observer, block []byte) (missing int64)
	// featureSummary is a feature of a column whose extremes are asked for.
	featureSummary func(d *Data, c *ManifestColumn, feature int64) (featureSummary, error)
}

// natives has all dtypes.
var natives = map[DType]native{
	Float16: {
		cells:          func(b []byte) []any { return cells(b, func(v Half) any { return floatCell(v.Float32()) }) },
		observe:        func(o *observer, block []byte) int64 { return observeHalves(o, cast[Half](block)) },
		featureSummary: summaryOf(extremeOfHalves),
	},
	Float32: number[float32](), Float64: number[float64](),
	Int8: number[int8](), Int16: number[int16](), Int32: number[int32](), Int64: number[int64](),
	Uint8: number[uint8](), Uint16: number[uint16](), Uint32: number[uint32](), Uint64: number[uint64](),
	Bool: {
		cells:          func(b []byte) []any { return cells(b, func(v uint8) any { return v != 0 }) },
		observe:        number[uint8]().observe,
		featureSummary: number[uint8]().featureSummary,
	},
	Timestamp: withoutStatistics, Duration: withoutStatistics,
	Text: {
		cells:          number[int32]().cells,
		observe:        func(_ *observer, block []byte) int64 { return missingCodes(cast[int32](block)) },
		featureSummary: summaryOf(extremeOfCodes),
	},
}

// number is a dtype of numbers that Go has.
func number[T moments.Number]() native {
	return native{
		cells:          func(b []byte) []any { return cells(b, cellOf[T]) },
		observe:        func(o *observer, block []byte) int64 { return observe(o, cast[T](block)) },
		featureSummary: summaryOf(extremeOfNumbers[T]),
	}
}

// withoutStatistics are times, which have neither statistics nor missing values.
var withoutStatistics = native{
	cells:          number[int64]().cells,
	observe:        func(*observer, []byte) int64 { return 0 },
	featureSummary: number[int64]().featureSummary,
}

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

// Cells are values of a dtype as JSON shows them: numbers of the width they are stored in, truth values for bool, nil for NaN, and
// "Infinity" and "-Infinity", which JSON has no numbers for. Texts are their codes, timestamps and durations numbers in their unit.
func Cells(d DType, b []byte) []any { return natives[d].cells(b) }

func cells[T Native](b []byte, cell func(T) any) []any {
	values := cast[T](b)
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = cell(v)
	}
	return out
}

func cellOf[T Number](v T) any {
	switch v := any(v).(type) {
	case float32:
		return floatCell(v)
	case float64:
		return floatCell(v)
	}
	return v
}

func floatCell[T float32 | float64](v T) any {
	switch f := float64(v); {
	case f != f:
		return nil
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return v
}
