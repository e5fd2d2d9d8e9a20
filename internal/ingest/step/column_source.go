package step

import (
	"github.com/tensorcache/tensorcache/internal/moments"
	"github.com/tensorcache/tensorcache/layout"
)

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

// strided is a source of floats in memory.
type strided[S float32 | float64] struct{ layout.Strided[S] }

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
func anyMissing[S float32 | float64](values []S) bool {
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
