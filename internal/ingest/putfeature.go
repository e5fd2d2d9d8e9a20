package ingest

import (
	"math"

	"github.com/tensorcache/tensorcache/layout"
)

// putFeature writes values of one feature from a row on, as the column's dtype. bad is the place of the first that an integer
// column cannot hold exactly, -1 where all fit.
func putFeature(d layout.Dest, feature int, row int64, values []float64) (bad int) {
	switch d.DType {
	case layout.Float32:
		return putFloats(layout.Values[float32](d), feature, row, values)
	case layout.Float64:
		return putFloats(layout.Values[float64](d), feature, row, values)
	case layout.Float16:
		to := layout.Values[layout.Half](d)
		for i, v := range values {
			to.Row(row + int64(i))[feature] = layout.HalfOf(v)
		}
		return -1
	case layout.Int8:
		return putIntegers(layout.Values[int8](d), feature, row, values)
	case layout.Int16:
		return putIntegers(layout.Values[int16](d), feature, row, values)
	case layout.Int32:
		return putIntegers(layout.Values[int32](d), feature, row, values)
	case layout.Int64:
		return putIntegers(layout.Values[int64](d), feature, row, values)
	case layout.Uint8, layout.Bool:
		return putIntegers(layout.Values[uint8](d), feature, row, values)
	case layout.Uint16:
		return putIntegers(layout.Values[uint16](d), feature, row, values)
	case layout.Uint32:
		return putIntegers(layout.Values[uint32](d), feature, row, values)
	}
	return putIntegers(layout.Values[uint64](d), feature, row, values)
}

// putIntegers checks the values and writes them.
func putIntegers[D layout.Number](to layout.Strided[D], feature int, row int64, values []float64) (bad int) {
	for i, v := range values {
		if v != v || math.Abs(v) >= exactIntegers || float64(D(v)) != v {
			return i
		}
	}
	return putFloats(to, feature, row, values)
}

// putFloats writes the values.
func putFloats[D layout.Number](to layout.Strided[D], feature int, row int64, values []float64) (bad int) {
	if to.Step == 1 {
		for i, v := range values {
			to.Data[row+int64(i)] = D(v)
		}
		return -1
	}
	at := row*to.Step + int64(feature)
	for _, v := range values {
		to.Data[at] = D(v)
		at += to.Step
	}
	return -1
}
