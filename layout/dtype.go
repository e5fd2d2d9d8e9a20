package layout

import "github.com/apache/arrow/go/v15/arrow"

// DType names the type of a column's values, as manifests, JSON and Python spell it.
type DType string

// The dtypes of columns.
const (
	Float32   DType = "float32"
	Float64   DType = "float64"
	Int32     DType = "int32"
	Int64     DType = "int64"
	Bool      DType = "bool"      // one byte, 0 or 1
	Timestamp DType = "timestamp" // int64 since 1970 in the column's unit
	Text      DType = "text"      // int32 codes into a vocabulary
)

// Size is the number of bytes of one value, 0 for what is no dtype.
func (d DType) Size() int64 {
	switch d {
	case Bool:
		return 1
	case Float32, Int32, Text:
		return 4
	case Float64, Int64, Timestamp:
		return 8
	}
	return 0
}

// IsFloat tells whether a missing value can be kept, as NaN.
func (d DType) IsFloat() bool { return d == Float32 || d == Float64 }

// IsNumeric tells whether a column of the dtype can stand in a window.
func (d DType) IsNumeric() bool {
	return d == Float32 || d == Float64 || d == Int32 || d == Int64 || d == Bool
}

var timeUnits = map[string]arrow.TimeUnit{"s": arrow.Second, "ms": arrow.Millisecond, "us": arrow.Microsecond, "ns": arrow.Nanosecond}

// arrowType is the Arrow type that data.arrow stores a value as.
func arrowType(d DType, unit, zone string) arrow.DataType {
	switch d {
	case Float32:
		return arrow.PrimitiveTypes.Float32
	case Float64:
		return arrow.PrimitiveTypes.Float64
	case Int32, Text:
		return arrow.PrimitiveTypes.Int32
	case Int64:
		return arrow.PrimitiveTypes.Int64
	case Bool:
		return arrow.PrimitiveTypes.Uint8
	case Timestamp:
		return &arrow.TimestampType{Unit: timeUnits[unit], TimeZone: zone}
	}
	return nil
}
