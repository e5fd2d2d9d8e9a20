package layout

import "math"

// Cells are values of a dtype as JSON shows them: numbers of the width they are stored in, truth values for bool, nil for NaN, and
// "Infinity" and "-Infinity", which JSON has no numbers for. Texts are their codes, timestamps and durations numbers in their unit.
func Cells(d DType, b []byte) []any { return natives[d].cells(b) }

func cells[T Native](b []byte, cell func(T) any) []any {
	values := cast[T](b)
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = cell(v)
	}
	return out
}

func cellOf[T Number](v T) any {
	switch v := any(v).(type) {
	case float32:
		return floatCell(v)
	case float64:
		return floatCell(v)
	}
	return v
}

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
