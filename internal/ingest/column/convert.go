package column

import (
	"math"
	"slices"

	"github.com/tensorcache/tensorcache/layout"
)

// Number are the Go types of numeric columns except float16.
type Number interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// Storable are the Go types of values that [Write] writes.
type Storable interface{ Number | layout.Half }

// Write converts values to the dtype of the destination and writes them from a row on. bad is the
// index of the first value that does not fit, -1 if all do.
//
// A value whose dtype changes is converted to int64, uint64 or float64 first, so that there are
// three conversions for each dtype.
func Write[S Storable](d Sink, row int64, src []S) (bad int) {
	if IsDType[S](d.DType) {
		layout.WriteAt(d.ColumnWriter, row, src)
		return -1
	}
	switch wide := any(src).(type) {
	case []int64:
		return convertTo(d, row, wide)
	case []uint64:
		return convertTo(d, row, wide)
	case []float64:
		return convertTo(d, row, wide)
	case []float32:
		return writeWidened(d, row, wide, castNumber[float32, float64])
	case []layout.Half:
		return writeWidened(d, row, wide,
			func(h layout.Half) float64 { return float64(h.Float32()) })
	case []int8:
		return writeWidened(d, row, wide, castNumber[int8, int64])
	case []int16:
		return writeWidened(d, row, wide, castNumber[int16, int64])
	case []int32:
		return writeWidened(d, row, wide, castNumber[int32, int64])
	case []uint8:
		return writeWidened(d, row, wide, castNumber[uint8, int64])
	case []uint16:
		return writeWidened(d, row, wide, castNumber[uint16, int64])
	case []uint32:
		return writeWidened(d, row, wide, castNumber[uint32, int64])
	}
	return 0
}

// castNumber converts a number to a wider type.
func castNumber[S, W Number](v S) W { return W(v) }

// IsDType reports whether a dtype is stored as values of S.
func IsDType[S Storable](d layout.DType) bool {
	var v S
	var name layout.DType
	switch any(v).(type) {
	case layout.Half:
		name = layout.Float16
	case int8:
		name = layout.Int8
	case int16:
		name = layout.Int16
	case int32:
		name = layout.Int32
	case int64:
		name = layout.Int64
	case uint8:
		if d == layout.Bool {
			return true
		}
		name = layout.Uint8
	case uint16:
		name = layout.Uint16
	case uint32:
		name = layout.Uint32
	case uint64:
		name = layout.Uint64
	case float32:
		name = layout.Float32
	case float64:
		name = layout.Float64
	}
	return d.Plain() == name
}

// writeWidened converts values to W and writes them, some rows at a time.
func writeWidened[S Storable, W int64 | float64](d Sink, row int64, src []S,
	widen func(S) W) (bad int) {
	width := int(max(1, d.Width))
	step := max(1, min(BlockRows, len(src))/width) * width
	wide := make([]W, 0, step)
	for i := 0; i < len(src); i += step {
		wide = wide[:0]
		for _, v := range src[i:min(len(src), i+step)] {
			wide = append(wide, widen(v))
		}
		if bad := convertTo(d, row+int64(i/width), wide); bad >= 0 {
			return i + bad
		}
	}
	return -1
}

// convertTo writes values of a widest type. If the option asks for the dtype, it refuses integers
// that floats round, and values that the reader may have rounded to an integer.
func convertTo[W int64 | uint64 | float64](d Sink, row int64, src []W) (bad int) {
	if d.Loss != nil {
		bad = -1
		switch src := any(src).(type) {
		case []int64:
			bad = firstInexactIn(d.DType, src)
		case []uint64:
			bad = firstInexactIn(d.DType, src)
		case []float64:
			if d.MayBeRounded {
				bad = slices.IndexFunc(src, func(v float64) bool { return mayBeRounded(d.DType, v) })
			}
		}
		if bad >= 0 {
			width := int(max(1, d.Width))
			if earlier := convertAs(d, row, src[:bad/width*width]); earlier >= 0 {
				return earlier
			}
			return bad
		}
	}
	return convertAs(d, row, src)
}

// convertAs converts values to the dtype of the destination and writes them.
func convertAs[W int64 | uint64 | float64](d Sink, row int64, src []W) (bad int) {
	switch d.DType.Plain() {
	case layout.Float16:
		return writeAs(d, row, src, toHalf)
	case layout.Float32:
		if floats, ok := any(src).([]float64); ok {
			return writeAs(d, row, floats, toFloat32)
		}
		return writeAs(d, row, src, convert[W, float32])
	case layout.Float64:
		return writeAs(d, row, src, convert[W, float64])
	case layout.Int8:
		return writeAs(d, row, src, convert[W, int8])
	case layout.Int16:
		return writeAs(d, row, src, convert[W, int16])
	case layout.Int32:
		return writeAs(d, row, src, convert[W, int32])
	case layout.Int64:
		return writeAs(d, row, src, convert[W, int64])
	case layout.Uint8:
		return writeAs(d, row, src, convert[W, uint8])
	case layout.Uint16:
		return writeAs(d, row, src, convert[W, uint16])
	case layout.Uint32:
		return writeAs(d, row, src, convert[W, uint32])
	case layout.Uint64:
		return writeAs(d, row, src, convert[W, uint64])
	}
	return 0
}

// convertedRows is the number of values that are converted before they are written.
const convertedRows = 32 << 10

// writeAs writes values that convert converts, and measures the loss.
func writeAs[S Number, D layout.Native](d Sink, row int64, src []S,
	convert func(to []D, src []S) (bad int)) (bad int) {
	width := int(max(1, d.Width))
	buffer := make([]D, min(len(src), max(1, convertedRows/width)*width))
	for i := 0; i < len(src); i += len(buffer) {
		part := src[i:min(len(src), i+len(buffer))]
		to := buffer[:len(part)]
		if bad := convert(to, part); bad >= 0 {
			return i + bad
		}
		d.Loss.measure(part, to)
		layout.WriteAt(d.ColumnWriter, row+int64(i/width), to)
	}
	return -1
}

// convert converts values one by one. A float may be rounded. bad is the index of the first value
// that is outside the range of D, or that an integer type rounds.
func convert[S, D Number](to []D, src []S) (bad int) {
	for i, v := range src {
		x := D(v)
		to[i] = x
		if !fits(v, x) {
			return i
		}
	}
	return -1
}

// toFloat32 is convert for float32, and faster.
func toFloat32(to []float32, src []float64) (bad int) {
	for i, v := range src {
		to[i] = float32(v)
	}
	return Overflows(layout.Float32, src)
}

// toHalf is convert for float16.
func toHalf[S Number](to []layout.Half, src []S) (bad int) {
	for i, v := range src {
		h := layout.HalfOf(float64(v))
		to[i] = h
		if !fits(v, h.Float32()) {
			return i
		}
	}
	return -1
}

// fits reports whether x is v, up to the precision of a float type.
func fits[S, D Number](v S, x D) bool {
	switch any(x).(type) {
	case float32, float64:
		return !math.IsInf(float64(x), 0) || math.IsInf(float64(v), 0)
	case int64:
		return roundTrips(v, x) && !atLeast(v, 0x1p63)
	case uint64:
		return roundTrips(v, x) && !atLeast(v, 0x1p64)
	}
	return roundTrips(v, x)
}

// roundTrips reports whether x is exactly v.
func roundTrips[S, D Number](v S, x D) bool { return S(x) == v && (x < 0) == (v < 0) }

// atLeast reports whether v is a float and at least bound, one more than the greatest integer. Its
// conversion to an integer then depends on the processor: arm64 returns the greatest integer, which
// as a float is the bound.
func atLeast[S Number](v S, bound float64) bool {
	f, ok := any(v).(float64)
	return ok && f >= bound
}

// NaN is a missing value of a float column. It is the NaN of numpy, pandas and pyarrow, which
// differs from [math.NaN] in the last bit, so that equal columns have equal bytes whatever their
// source.
var NaN = math.Float64frombits(0x7ff8 << 48)

// WriteMissing writes missing values to n rows: NaN to a column of floats, -1 to the codes of a
// text column. It reports whether the column is one of these.
func WriteMissing(d Sink, row, n int64) bool {
	switch d.DType {
	case layout.Float32:
		repeat(d.ColumnWriter, row, n, missingFloats32)
	case layout.Float64:
		repeat(d.ColumnWriter, row, n, missingFloats64)
	case layout.Float16:
		repeat(d.ColumnWriter, row, n, missingHalves)
	case layout.Text:
		repeat(d.ColumnWriter, row, n, missingCodes)
	default:
		return false
	}
	return true
}

// Missing values, to write several at a time.
var (
	missingFloats32 = slices.Repeat([]float32{float32(NaN)}, missingAtOnce)
	missingFloats64 = slices.Repeat([]float64{NaN}, missingAtOnce)
	missingHalves   = slices.Repeat([]layout.Half{layout.HalfOf(NaN)}, missingAtOnce)
	missingCodes    = slices.Repeat([]int32{-1}, missingAtOnce)
)

// missingAtOnce is the number of missing values that are written at a time.
const missingAtOnce = 1 << 10

// repeat writes one value to n rows of a column. values contains it several times.
func repeat[T layout.Native](c layout.ColumnWriter, row, n int64, values []T) {
	width := max(1, c.Width)
	if width > int64(len(values)) {
		values = slices.Repeat(values[:1], int(width))
	}
	for end := row + n; row < end; {
		rows := min(end-row, int64(len(values))/width)
		layout.WriteAt(c, row, values[:rows*width])
		row += rows
	}
}

// Multiply multiplies n rows of an int64 column. It stops at the first product that does not fit:
// bad is its row and value its factor. bad is -1 if all products fit.
func Multiply(d Sink, row, n, by int64) (bad, value int64) {
	to := layout.Values[int64](d.ColumnWriter)
	for r := row; r < row+n; r++ {
		for i, v := range to.Row(r) {
			if v > math.MaxInt64/by || v < math.MinInt64/by {
				return r, v
			}
			to.Row(r)[i] = v * by
		}
	}
	return -1, 0
}
