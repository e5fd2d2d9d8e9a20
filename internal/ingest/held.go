package ingest

import "github.com/tensorcache/tensorcache/layout"

// canMiss tells whether a value may be missing.
func (s sink) canMiss() bool { return s.marked || s.DType.IsFloat() }

// mark notes that the values of rows are missing.
func (s sink) mark(row, n int64) {
	switch d := s.marks; d.DType.Size() {
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
