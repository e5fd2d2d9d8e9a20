package ingest

import (
	"math"

	"github.com/tensorcache/tensorcache/layout"
)

// number is a value of a source.
type number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// put writes values, row after row, from a row of the destination on, as the destination's dtype. bad is the place of the
// first value that does not fit, -1 where all do.
func put[S number](d layout.Dest, row int64, src []S) (bad int) {
	switch d.DType {
	case layout.Float32:
		return putAs[S, float32](d, row, src)
	case layout.Float64:
		return putAs[S, float64](d, row, src)
	case layout.Int32, layout.Text:
		return putAs[S, int32](d, row, src)
	case layout.Int64, layout.Timestamp:
		return putAs[S, int64](d, row, src)
	case layout.Bool:
		return putAs[S, uint8](d, row, src)
	}
	return 0
}

func putAs[S number, D layout.Native](d layout.Dest, row int64, src []S) (bad int) {
	to := layout.Values[D](d)
	width := int(to.Width)
	if same, ok := any(src).([]D); ok {
		if to.Contiguous() {
			copy(to.Data[row*to.Step:], same)
			return -1
		}
		for i := 0; i < len(same); i += width {
			copy(to.Row(row+int64(i/width)), same[i:])
		}
		return -1
	}
	if to.Contiguous() {
		return convert(to.Data[row*to.Step:][:len(src)], src)
	}
	for i := 0; i < len(src); i += width {
		if bad := convert(to.Row(row+int64(i/width)), src[i:i+width]); bad >= 0 {
			return i + bad
		}
	}
	return -1
}

// convert converts values one by one. What a float loses is its rounding; a value that gets out of range does not fit.
func convert[S number, D layout.Native](to []D, src []S) (bad int) {
	for i, v := range src {
		x := D(v)
		to[i] = x
		if !fits(v, x) {
			return i
		}
	}
	return -1
}

// fits tells whether x is v within the precision of x's type.
func fits[S number, D layout.Native](v S, x D) bool {
	switch any(x).(type) {
	case float32, float64:
		return !math.IsInf(float64(x), 0) || math.IsInf(float64(v), 0)
	}
	return S(x) == v && (x < 0) == (v < 0)
}

// putMissing writes NaN into rows of a float column; it tells whether it is one.
func putMissing(d layout.Dest, row, n int64) bool {
	switch d.DType {
	case layout.Float32:
		fillRows(layout.Values[float32](d), row, n, float32(math.NaN()))
	case layout.Float64:
		fillRows(layout.Values[float64](d), row, n, math.NaN())
	default:
		return false
	}
	return true
}

func fillRows[T layout.Native](to layout.Strided[T], row, n int64, v T) {
	for r := row; r < row+n; r++ {
		for i := range to.Row(r) {
			to.Row(r)[i] = v
		}
	}
}

// multiply multiplies rows of an int64 column; ok is false where a product does not fit.
func multiply(d layout.Dest, row, n, by int64) (ok bool) {
	to := layout.Values[int64](d)
	for r := row; r < row+n; r++ {
		for i, v := range to.Row(r) {
			if v > math.MaxInt64/by || v < math.MinInt64/by {
				return false
			}
			to.Row(r)[i] = v * by
		}
	}
	return true
}

// float16 is an IEEE half: its value as a float32 is exact.
func float16(bits uint16) float32 {
	sign, exp, frac := uint32(bits>>15)<<31, uint32(bits>>10)&0x1f, uint32(bits)&0x3ff
	switch {
	case exp == 0x1f:
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	case exp == 0:
		v := float32(frac) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}
