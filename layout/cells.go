package layout

import "math"

// Cells are values of a dtype as JSON shows them: numbers of the width they are stored in, truth values for bool, nil for NaN, and
// "Infinity" and "-Infinity", which JSON has no numbers for. Texts are their codes, timestamps and durations numbers in their unit.
func Cells(d DType, b []byte) []any {
	switch d.Plain() {
	case Float16:
		return cells(b, func(v Half) any { return floatCell(v.Float32()) })
	case Float32:
		return cells(b, floatCell[float32])
	case Float64:
		return cells(b, floatCell[float64])
	case Int8:
		return cells(b, anyCell[int8])
	case Int16:
		return cells(b, anyCell[int16])
	case Int32:
		return cells(b, anyCell[int32])
	case Int64:
		return cells(b, anyCell[int64])
	case Uint8:
		return cells(b, anyCell[uint8])
	case Uint16:
		return cells(b, anyCell[uint16])
	case Uint32:
		return cells(b, anyCell[uint32])
	case Uint64:
		return cells(b, anyCell[uint64])
	}
	return cells(b, func(v uint8) any { return v != 0 })
}

func cells[T Native](b []byte, cell func(T) any) []any {
	values := cast[T](b)
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = cell(v)
	}
	return out
}

func anyCell[T Number](v T) any { return v }

func floatCell[T float32 | float64](v T) any {
	switch f := float64(v); {
	case f != f:
		return nil
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return v
}
