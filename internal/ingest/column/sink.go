package column

import "github.com/tensorcache/tensorcache/layout"

// Sink is the destination of a column's values.
type Sink struct {
	layout.ColumnWriter
	// Loss is set if an option asks for the dtype. Floats are then measured, and integers that
	// floats round are refused.
	Loss *Loss
	// MayBeRounded is [Column.MayBeRounded]. Integer dtypes then refuse values from 2^53 on.
	MayBeRounded bool
}

// Feature returns the sink of one feature of the column.
func (s Sink) Feature(i int64) Sink {
	s.ColumnWriter = s.ColumnWriter.Feature(i)
	return s
}

// CanMiss reports whether the dtype has missing values.
func (s Sink) CanMiss() bool { return s.DType.IsFloat() }
