package layout

import (
	"math"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
)

// DType names the type of a column's values, as manifests, JSON and Python spell it.
type DType string

// The dtypes of columns.
const (
	Float16   DType = "float16"
	Float32   DType = "float32"
	Float64   DType = "float64"
	Int8      DType = "int8"
	Int16     DType = "int16"
	Int32     DType = "int32"
	Int64     DType = "int64"
	Uint8     DType = "uint8"
	Uint16    DType = "uint16"
	Uint32    DType = "uint32"
	Uint64    DType = "uint64"
	Bool      DType = "bool"      // one byte, 0 or 1
	Timestamp DType = "timestamp" // int64 since 1970 in the column's unit
	Duration  DType = "duration"  // int64 in the column's unit
	Text      DType = "text"      // int32 codes into a vocabulary, −1 where there is none
)

// dtypes says of each dtype how many bytes a value has and what Arrow type data.arrow stores it as, where that needs no unit.
var dtypes = map[DType]struct {
	size  int64
	arrow arrow.DataType
}{
	Float16: {2, arrow.FixedWidthTypes.Float16}, Float32: {4, arrow.PrimitiveTypes.Float32}, Float64: {8, arrow.PrimitiveTypes.Float64},
	Int8: {1, arrow.PrimitiveTypes.Int8}, Int16: {2, arrow.PrimitiveTypes.Int16}, Int32: {4, arrow.PrimitiveTypes.Int32}, Int64: {8, arrow.PrimitiveTypes.Int64},
	Uint8: {1, arrow.PrimitiveTypes.Uint8}, Uint16: {2, arrow.PrimitiveTypes.Uint16}, Uint32: {4, arrow.PrimitiveTypes.Uint32}, Uint64: {8, arrow.PrimitiveTypes.Uint64},
	Bool: {1, arrow.PrimitiveTypes.Uint8}, Timestamp: {8, nil}, Duration: {8, nil}, Text: {4, arrow.PrimitiveTypes.Int32},
}

// Size is the number of bytes of one value, 0 for what is no dtype.
func (d DType) Size() int64 { return dtypes[d].size }

// IsFloat reports whether a missing value can be kept, as NaN.
func (d DType) IsFloat() bool { return d == Float16 || d == Float32 || d == Float64 }

// IsInteger reports whether the values are whole numbers.
func (d DType) IsInteger() bool {
	switch d {
	case Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64:
		return true
	}
	return false
}

// IsNumeric reports whether a column of the dtype stands in a window that names no columns.
func (d DType) IsNumeric() bool { return d.IsFloat() || d.IsInteger() || d == Bool }

// HasUnit reports whether the values count units of time.
func (d DType) HasUnit() bool { return d == Timestamp || d == Duration }

// Plain is the dtype of the same values without a meaning beyond their numbers: int64 for a duration, int32 for a text's code.
func (d DType) Plain() DType {
	switch d {
	case Timestamp, Duration:
		return Int64
	case Text:
		return Int32
	}
	return d
}

// Holds reports whether every value of another dtype is one of d's, where both are integers or bool.
func (d DType) Holds(other DType) bool {
	unsigned := func(d DType) bool { return d == Uint8 || d == Uint16 || d == Uint32 || d == Uint64 }
	switch {
	case !d.IsInteger() || !other.IsInteger() && other != Bool:
		return d == other
	case other == Bool:
		return true
	case unsigned(other) == unsigned(d):
		return other.Size() <= d.Size()
	}
	return unsigned(other) && other.Size() < d.Size()
}

var timeUnits = map[string]arrow.TimeUnit{"s": arrow.Second, "ms": arrow.Millisecond, "us": arrow.Microsecond, "ns": arrow.Nanosecond}

// arrowType is the Arrow type that data.arrow stores a value as.
func arrowType(d DType, unit, zone string) arrow.DataType {
	switch d {
	case Timestamp:
		return &arrow.TimestampType{Unit: timeUnits[unit], TimeZone: zone}
	case Duration:
		return &arrow.DurationType{Unit: timeUnits[unit]}
	}
	return dtypes[d].arrow
}

// Half is an IEEE 754 binary16: a value of a float16 column. It is a struct so that no conversion takes its bits for a number.
type Half struct{ bits uint16 }

// HalfFromBits is the half of these bits.
func HalfFromBits(bits uint16) Half { return Half{bits} }

// Bits are the half's bits.
func (h Half) Bits() uint16 { return h.bits }

// IsNaN reports whether the half is not a number.
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
