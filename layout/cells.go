package layout

import "math"

// Cells returns values of a dtype as JSON represents them: numbers with their stored precision,
// true and false for bool, nil for NaN. JSON has no infinite numbers: they become "Infinity" and
// "-Infinity". Texts are their codes. Timestamps and durations are numbers in their unit.
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
