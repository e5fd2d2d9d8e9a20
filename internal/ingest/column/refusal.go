package column

import (
	"fmt"
	"math"

	"github.com/tensorcache/tensorcache/layout"
)

// Refusal says why a value cannot be stored. Hint says what to do.
type Refusal struct{ Text, Reason, Hint string }

// Refuse returns why [Write] refuses a value of the column.
func (c Column) Refuse(d Sink, value any) Refusal {
	switch v := value.(type) {
	case int64, uint64:
		if d.DType == layout.Float64 {
			return Refusal{fmt.Sprint(v), "does not fit float64", HintIntegers}
		}
	case layout.Half:
		value = v.Float32()
	case float64:
		if d.MayBeRounded && mayBeRounded(d.DType, v) {
			return Refusal{fmt.Sprintf("%.0f", v), "may be rounded: the column is read as float64, " +
				"which does not represent all integers from 2^53 on", c.hintExact()}
		}
		if v == math.Trunc(v) && math.Abs(v) <= 1<<64 {
			return Refusal{fmt.Sprintf("%.0f", v), "does not fit " + string(d.DType), HintWider}
		}
	}
	return Refusal{fmt.Sprint(value), "does not fit " + string(d.DType), HintWider}
}

// hintExact returns the hint for integers that float64 may have rounded.
func (c Column) hintExact() string {
	if c.Decimal {
		return "convert the decimals to int64 or uint64 before the load"
	}
	return "write all cells of the column as integers below 2^63, or load it from a Parquet file"
}

// mayBeRounded reports whether v may be the rounded value of an integer that fits a dtype.
func mayBeRounded(d layout.DType, v float64) bool {
	if math.Abs(v) < ExactIntegers {
		return false
	}
	switch d.Plain() {
	case layout.Int64:
		return math.Abs(v) <= 1<<63
	case layout.Uint64:
		return 0 <= v && v <= 1<<64
	}
	return false
}
