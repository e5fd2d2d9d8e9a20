package column

import (
	"math"
	"slices"

	"github.com/tensorcache/tensorcache/layout"
)

// ExactIntegers bounds the integers that fill and clip compute with. They compute in float64, which
// rounds integers to this bound and beyond; below it every integer is exact.
const ExactIntegers = 1 << 53

// FirstInexact returns the index of the first value that may be another integer, rounded; -1 if
// there is none.
func FirstInexact(values []float64) int {
	return slices.IndexFunc(values, func(v float64) bool { return math.Abs(v) >= ExactIntegers })
}

// FirstRounded returns the index of the first value that a dtype of floats rounds, -1 if there is
// none.
func FirstRounded(d layout.DType, values []float64) int {
	if d != layout.Float16 && d != layout.Float32 {
		return -1
	}
	return slices.IndexFunc(values, func(v float64) bool { return v == v && narrowedTo(d, v) != v })
}
