package layout

import (
	"math"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
)

// DType is the name of the type of a column's values, as in manifests, JSON and Python.
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
	Timestamp DType = "timestamp" // int64: time since 1970 in the column's unit
	Duration  DType = "duration"  // int64 in the column's unit
	Text      DType = "text"      // int32: index of a word in the vocabulary, −1 if missing
)

// dtypes gives the bytes of a value of each dtype, and the Arrow type in data.arrow unless that
// depends on a unit.
var dtypes = map[DType]struct {
	size  int64
	arrow arrow.DataType
}{
	Float16: {2, arrow.FixedWidthTypes.Float16}, Float32: {4, arrow.PrimitiveTypes.Float32},
	Float64: {8, arrow.PrimitiveTypes.Float64},
	Int8:    {1, arrow.PrimitiveTypes.Int8}, Int16: {2, arrow.PrimitiveTypes.Int16},
	Int32: {4, arrow.PrimitiveTypes.Int32}, Int64: {8, arrow.PrimitiveTypes.Int64},
	Uint8: {1, arrow.PrimitiveTypes.Uint8}, Uint16: {2, arrow.PrimitiveTypes.Uint16},
	Uint32: {4, arrow.PrimitiveTypes.Uint32}, Uint64: {8, arrow.PrimitiveTypes.Uint64},
	Bool: {1, arrow.PrimitiveTypes.Uint8}, Timestamp: {8, nil}, Duration: {8, nil},
	Text: {4, arrow.PrimitiveTypes.Int32},
}

// Size returns the number of bytes of one value, or 0 if d is not a dtype.
func (d DType) Size() int64 { return dtypes[d].size }

// IsFloat reports whether the dtype can store a missing value, as NaN.
func (d DType) IsFloat() bool { return d == Float16 || d == Float32 || d == Float64 }

// IsInteger reports whether the values are whole numbers.
func (d DType) IsInteger() bool {
	switch d {
	case Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64:
		return true
	}
	return false
}

// IsNumeric reports whether values are numbers or booleans. Windows include columns of other dtypes
// only where a spec names them.
func (d DType) IsNumeric() bool { return d.IsFloat() || d.IsInteger() || d == Bool }

// HasUnit reports whether the values are counts of a unit of time.
func (d DType) HasUnit() bool { return d == Timestamp || d == Duration }

// Plain returns the dtype of the stored numbers: int64 for timestamps and durations, int32 for
// text.
func (d DType) Plain() DType {
	switch d {
	case Timestamp, Duration:
		return Int64
	case Text:
		return Int32
	}
	return d
}

// Holds reports whether d can represent every value of another dtype, if both are integers or bool.
// For all others it reports whether they are equal.
func (d DType) Holds(other DType) bool {
	unsigned := func(d DType) bool {
		return d == Uint8 || d == Uint16 || d == Uint32 ||
			d == Uint64
	}
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

var timeUnits = map[string]arrow.TimeUnit{"s": arrow.Second, "ms": arrow.Millisecond,
	"us": arrow.Microsecond, "ns": arrow.Nanosecond}

// arrowType returns the Arrow type of a value in data.arrow.
func arrowType(d DType, unit, zone string) arrow.DataType {
	switch d {
	case Timestamp:
		return &arrow.TimestampType{Unit: timeUnits[unit], TimeZone: zone}
	case Duration:
		return &arrow.DurationType{Unit: timeUnits[unit]}
	}
	return dtypes[d].arrow
}

// Half is an IEEE 754 binary16: a value of a float16 column. It is a struct, so that no conversion
// can use its bits as a number.
type Half struct{ bits uint16 }

// HalfFromBits returns the half with these bits.
func HalfFromBits(bits uint16) Half { return Half{bits} }

// Bits returns the half's bits.
func (h Half) Bits() uint16 { return h.bits }

// IsNaN reports whether the half is not a number.
func (h Half) IsNaN() bool { return h.bits&0x7fff > 0x7c00 }

// String returns the half's value as text.
func (h Half) String() string { return strconv.FormatFloat(float64(h.Float32()), 'g', -1, 32) }

// HalfOf returns the half nearest to x; of two, the even one. It returns ±Inf from 65520 on, and
// NaN for NaN. It rounds once, as numpy does when it converts a float64.
func HalfOf(x float64) Half {
	sign := uint16(math.Float64bits(x) >> 48 & 0x8000)
	a := math.Abs(x)
	switch {
	case x != x:
		return Half{sign | 0x7e00}
	case a >= 65520:
		return Half{sign | 0x7c00}
	}
	exp := max(math.Ilogb(a), -14) // -14: that of subnormal halves too
	steps := math.RoundToEven(math.Ldexp(a, 10-exp))
	// The leading bit of steps, 1024, adds one to the exponent.
	return Half{sign | uint16((exp+14)<<10+int(steps))}
}

// Float32 returns the half's value, which a float32 represents exactly.
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
