package column

import (
	"math"
	"slices"
	"sync"

	"github.com/tensorcache/tensorcache/layout"
)

// HintWider is for values that a dtype which was asked for cannot hold.
const HintWider = "store the column as a wider dtype with --dtype"

// Loss is the largest error that storing floats as narrower ones has made. It is safe for concurrent use.
type Loss struct {
	mu sync.Mutex
	layout.DTypeError
}

// Add takes over larger errors.
func (l *Loss) Add(e layout.DTypeError) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Abs, l.Rel = max(l.Abs, e.Abs), max(l.Rel, e.Rel)
}

// WithError is e with the error of a value v that became x.
func WithError(e layout.DTypeError, v, x float64) layout.DTypeError {
	d := math.Abs(x - v) // NaN for what is not finite, which is kept as it is
	if d > e.Abs {
		e.Abs = d
	}
	if a := math.Abs(v); d > e.Rel*a {
		e.Rel = d / a
	}
	return e
}

// Sink is where a column's values go.
type Sink struct {
	layout.ColumnWriter
	// Loss is there where the load asks for another dtype: integers must then be kept exactly, and what floats lose is noted.
	Loss *Loss
}

// Feature returns the sink of one feature of the column.
func (s Sink) Feature(i int64) Sink {
	s.ColumnWriter = s.ColumnWriter.Feature(i)
	return s
}

// CanMiss reports whether a value may be missing.
func (s Sink) CanMiss() bool { return s.DType.IsFloat() }

// note measures what storing floats as narrower ones has lost; from and to are slices of values.
func (l *Loss) measure(from, to any) {
	src, ok := from.([]float64)
	if l == nil || !ok {
		return
	}
	var e layout.DTypeError
	switch to := to.(type) {
	case []float32:
		for i, v := range src { // as noted, in registers
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

// firstInexactIn is the place of the first integer that the float type of d does not hold, -1 if it holds all.
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
		if a := max(v, -v); uint64(a)>>bits == 0 { // also of the least int64, which is its own opposite
			continue
		}
		if x := float64(v); math.Abs(x) >= 1<<63 && S(x/2)*2 != v || math.Abs(x) < 1<<63 && S(x) != v || bits == 24 && float64(float32(x)) != x || bits == 11 && float64(layout.HalfOf(x).Float32()) != x {
			return i
		}
	}
	return -1
}

// Overflows is the place of the first finite value that would be stored as infinite, -1 without one.
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
		over |= most - math.Float64bits(v)&^(1<<63) // its highest bit is set beyond the limit, and for what is not finite
	}
	if over>>63 == 0 {
		return -1
	}
	return slices.IndexFunc(values, func(v float64) bool { return math.Abs(v) >= limit && !math.IsInf(v, 0) })
}

// What rounds to infinity from there on.
const (
	float16Overflow = 65520.0
	float32Overflow = 0x1.ffffffp127
)

// narrowedTo is a value as a dtype of floats holds it.
func narrowedTo(d layout.DType, v float64) float64 {
	switch d {
	case layout.Float16:
		return float64(layout.HalfOf(v).Float32())
	case layout.Float32:
		return float64(float32(v))
	}
	return v
}

// MeasureResults measures what storing the results of steps loses.
func MeasureResults(l *Loss, d layout.DType, values []float64) {
	var e layout.DTypeError
	for _, v := range values {
		e = WithError(e, v, narrowedTo(d, v))
	}
	l.Add(e)
}
