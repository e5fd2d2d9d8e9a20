package column

import "github.com/tensorcache/tensorcache/layout"

// CanMiss tells whether a value may be missing.
func (s Sink) CanMiss() bool { return s.Marked || s.DType.IsFloat() }

// Mark notes that the values of rows are missing.
func (s Sink) Mark(row, n int64) {
	switch d := s.Marks; d.DType.Size() {
	case 1:
		fillRows(layout.Values[uint8](d), row, n, 1)
	case 2:
		fillRows(layout.Values[uint16](d), row, n, 1)
	case 4:
		fillRows(layout.Values[uint32](d), row, n, 1)
	default:
		fillRows(layout.Values[uint64](d), row, n, 1)
	}
}
