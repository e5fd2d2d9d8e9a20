package column

import (
	"math"
	"slices"
	"sync"

	"github.com/tensorcache/tensorcache/layout"
)

// HintIntegers is the hint for an integer that float64 does not represent.
const HintIntegers = "store integers, with `fill` if some are missing, or leave the column out with `columns`"

// HintWider is the hint for a value that does not fit the dtype of an option.
const HintWider = "store the column as a wider dtype with `dtype`"

// ExactIntegers bounds the integers that steps compute with. Steps compute in float64, which
// rounds integers to this bound and beyond; below it every integer is exact.
const ExactIntegers = 1 << 53

// Loss is the largest error of storing floats as narrower ones. It is safe for concurrent use.
type Loss struct {
	mu sync.Mutex
	layout.DTypeError
}

// Add replaces errors by larger ones.
func (l *Loss) Add(e layout.DTypeError) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Abs, l.Rel = max(l.Abs, e.Abs), max(l.Rel, e.Rel)
}

// WithError returns the larger of e and the error of a value v that is stored as x.
func WithError(e layout.DTypeError, v, x float64) layout.DTypeError {
	d := math.Abs(x - v) // NaN if v is not finite, which is stored exactly
	if d > e.Abs {
		e.Abs = d
	}
	if a := math.Abs(v); d > e.Rel*a {
		e.Rel = d / a
	}
	return e
}

// measure adds the error of storing from as to, which are slices of values. l may be nil.
func (l *Loss) measure(from, to any) {
	src, ok := from.([]float64)
	if l == nil || !ok {
		return
	}
	var e layout.DTypeError
	switch to := to.(type) {
	case []float32:
		for i, v := range src { // as WithError, in registers
			d, a := math.Abs(float64(to[i])-v), math.Abs(v)
			if d > e.Abs {
				e.Abs = d
			}
			if d > e.Rel*a {
				e.Rel = d / a
			}
		}
	case []layout.Half:
		for i, v := range src {
			e = WithError(e, v, float64(to[i].Float32()))
		}
	default:
		return
	}
	l.Add(e)
}

// firstInexactIn returns the index of the first integer that the float dtype d rounds, -1 if there
// is none.
func firstInexactIn[S int64 | uint64](d layout.DType, src []S) int {
	bits := 0
	switch d {
	case layout.Float16:
		bits = 11
	case layout.Float32:
		bits = 24
	case layout.Float64:
		bits = 53
	default:
		return -1
	}
	for i, v := range src {
		// also for the least int64, whose negation is itself
		if a := max(v, -v); uint64(a)>>bits == 0 {
			continue
		}
		x := float64(v)
		isLarge := math.Abs(x) >= 1<<63 // x may be out of the range of S
		if isLarge && S(x/2)*2 != v || !isLarge && S(x) != v ||
			bits == 24 && float64(float32(x)) != x || bits == 11 &&
			float64(layout.HalfOf(x).Float32()) != x {
			return i
		}
	}
	return -1
}

// Overflows returns the index of the first finite value that a dtype stores as infinite, -1 if
// there is none.
func Overflows(d layout.DType, values []float64) int {
	limit := float32Overflow
	switch d {
	case layout.Float16:
		limit = float16Overflow
	case layout.Float32:
	default:
		return -1
	}
	most, over := math.Float64bits(limit)-1, uint64(0)
	for _, v := range values {
		// The highest bit is set for values beyond the limit, and for those that are not finite.
		over |= most - math.Float64bits(v)&^(1<<63)
	}
	if over>>63 == 0 {
		return -1
	}
	return slices.IndexFunc(values, func(v float64) bool {
		return math.Abs(v) >= limit &&
			!math.IsInf(v, 0)
	})
}

// Smallest values that round to infinity.
const (
	float16Overflow = 65520.0
	float32Overflow = 0x1.ffffffp127
)

// narrowedTo returns a value rounded to a dtype of floats.
func narrowedTo(d layout.DType, v float64) float64 {
	switch d {
	case layout.Float16:
		return float64(layout.HalfOf(v).Float32())
	case layout.Float32:
		return float64(float32(v))
	}
	return v
}

// MeasureResults adds the error of storing results of steps as a dtype of floats.
func MeasureResults(l *Loss, d layout.DType, values []float64) {
	var e layout.DTypeError
	for _, v := range values {
		e = WithError(e, v, narrowedTo(d, v))
	}
	l.Add(e)
}

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
