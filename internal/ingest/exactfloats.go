package ingest

import (
	"math"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/layout"
)

// exactIntegers bounds the integers that fill and clip compute with. They compute in float64, which
// rounds integers to this bound and beyond; below it every integer is exact.
const exactIntegers = 1 << 53

// rounded returns the index of the first value that may be another integer, rounded; -1 if there is
// none.
func rounded(values []float64) int {
	return slices.IndexFunc(values, func(v float64) bool { return math.Abs(v) >= exactIntegers })
}

// changed returns the index of the first value that a dtype of floats rounds, -1 if there is none.
func changed(d layout.DType, values []float64) int {
	if d != layout.Float16 && d != layout.Float32 {
		return -1
	}
	return slices.IndexFunc(values, func(v float64) bool { return v == v && column.NarrowedTo(d, v) != v })
}
