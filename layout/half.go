package layout

import (
	"math"
	"strconv"
)

// Half is an IEEE 754 binary16: a value of a float16 column. It is a struct so that no conversion takes its bits for a number.
type Half struct{ bits uint16 }

// HalfFromBits is the half of these bits.
func HalfFromBits(bits uint16) Half { return Half{bits} }

// Bits are the half's bits.
func (h Half) Bits() uint16 { return h.bits }

// IsNaN tells whether the half is not a number.
func (h Half) IsNaN() bool { return h.bits&0x7fff > 0x7c00 }

// String is the half's value.
func (h Half) String() string { return strconv.FormatFloat(float64(h.Float32()), 'g', -1, 32) }

// HalfOf is the half nearest to x, the even one of two: ±Inf from 65520 on, NaN for NaN. One rounding, so that it is what numpy
// makes of a float64.
func HalfOf(x float64) Half {
	sign := uint16(math.Float64bits(x) >> 48 & 0x8000)
	a := math.Abs(x)
	switch {
	case x != x:
		return Half{sign | 0x7e00}
	case a >= 65520:
		return Half{sign | 0x7c00}
	}
	exp := max(math.Ilogb(a), -14) // of the smallest normal half: below it the steps stay as they are
	steps := math.RoundToEven(math.Ldexp(a, 10-exp))
	return Half{sign | uint16((exp+14)<<10+int(steps))} // the leading bit of steps, 1024, adds one to the exponent
}

// Float32 is the half's value, exactly.
func (h Half) Float32() float32 {
	sign, exp, frac := uint32(h.bits>>15)<<31, uint32(h.bits>>10)&0x1f, uint32(h.bits)&0x3ff
	switch exp {
	case 0x1f:
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	case 0:
		return math.Float32frombits(math.Float32bits(float32(frac)/(1<<24)) | sign)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}
