package step

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/moments"
	"github.com/tensorcache/tensorcache/layout"
)

// Values are the values of a column of a generation.
type Values interface{ source }

// ValuesOf returns the values of a column of numbers other than float16. They are valid as long as
// the generation is open.
func ValuesOf(d *layout.Data, c *layout.ManifestColumn) (Values, error) {
	switch c.DType {
	case layout.Float32:
		return valuesOf[float32](d, c)
	case layout.Float64:
		return valuesOf[float64](d, c)
	case layout.Int8:
		return valuesOf[int8](d, c)
	case layout.Int16:
		return valuesOf[int16](d, c)
	case layout.Int32:
		return valuesOf[int32](d, c)
	case layout.Int64:
		return valuesOf[int64](d, c)
	case layout.Uint8:
		return valuesOf[uint8](d, c)
	case layout.Uint16:
		return valuesOf[uint16](d, c)
	case layout.Uint32:
		return valuesOf[uint32](d, c)
	case layout.Uint64:
		return valuesOf[uint64](d, c)
	}
	return nil, fmt.Errorf("column %q is %s, and has no values for steps", c.Name, c.DType)
}

func valuesOf[T moments.Number](d *layout.Data, c *layout.ManifestColumn) (Values, error) {
	v, err := layout.View[T](d, c)
	return strided[T]{v}, err
}

// source are the values of a column before its steps.
type source interface {
	// shape returns the number of rows, and of values in a row.
	shape() (rows, width int64)
	// isPlain reports whether a row is one value, and rows follow each other in memory.
	isPlain() bool
	// tile returns len(buffer) values of a feature from a row on: the column's own memory if it has
	// them as float64 next to each other, else buffer, which it fills.
	tile(feature, row int64, buffer []float64) []float64
	// nextPresent returns the first value of a feature that is not missing and its row, from row to
	// end-1. ok is false if there is none.
	nextPresent(feature, row, end int64) (v float64, at int64, ok bool)
	// isComplete reports whether no value of rows from row to end-1 is missing. It may return false
	// for complete rows.
	isComplete(row, end int64) bool
	// missing returns the number of missing values of a row.
	missing(row int64) (cells int64)
	// moments returns the moments of rows from row to end-1 of a plain column.
	moments(row, end int64) moments.Moments
}

// strided is a source of numbers in memory.
type strided[S moments.Number] struct{ layout.Strided[S] }

func (s strided[S]) shape() (rows, width int64) { return s.Rows, s.Width }
func (s strided[S]) isPlain() bool              { return s.Width == 1 && s.Contiguous() }

func (s strided[S]) tile(feature, row int64, buffer []float64) []float64 {
	if s.Step != 1 {
		at := row*s.Step + feature
		for i := range buffer {
			buffer[i] = float64(s.Data[at])
			at += s.Step
		}
		return buffer
	}
	values := s.Data[row:][:len(buffer)]
	if same, ok := any(values).([]float64); ok {
		return same
	}
	for i, v := range values {
		buffer[i] = float64(v)
	}
	return buffer
}

func (s strided[S]) nextPresent(feature, row, end int64) (v float64, at int64, ok bool) {
	for ; row < end; row++ {
		if v := float64(s.Data[row*s.Step+feature]); v == v {
			return v, row, true
		}
	}
	return 0, end, false
}

func (s strided[S]) isComplete(row, end int64) bool {
	return s.Contiguous() && !anyMissing(s.Data[row*s.Width:end*s.Width])
}

func (s strided[S]) missing(row int64) (cells int64) {
	for _, v := range s.Row(row) {
		if v != v {
			cells++
		}
	}
	return cells
}

func (s strided[S]) moments(row, end int64) (m moments.Moments) {
	moments.Add(&m, s.Data[row:end])
	return m
}

// anyMissing reports whether one of the values may be NaN, at memory bandwidth. A NaN stays in a
// sum. Infinities may make one too; the caller then looks for missing values in vain.
func anyMissing[S moments.Number](values []S) bool {
	var a, b, c, d S
	i := 0
	for ; i+4 <= len(values); i += 4 {
		a, b, c, d = a+values[i], b+values[i+1], c+values[i+2], d+values[i+3]
	}
	for ; i < len(values); i++ {
		a += values[i]
	}
	sum := a + b + c + d
	return sum != sum
}
