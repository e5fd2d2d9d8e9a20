package ingest

import "github.com/tensorcache/tensorcache/layout"

// held tells whether a column is filled beside the result first as the integers or truth values that it is, and with a mark for each value
// that is missing: its steps keep them such, and float64 would not hold all of them.
func (o Options) held(c column, role layout.Role) bool {
	s := o.steps(c, role)
	return s != (steps{}) && s.wholes() && (c.kind.isInteger() || c.kind == kindBool)
}

// beside is the column of scratch that a column is filled in first; ok is false where it is filled in the result.
func (o Options) beside(c column, role layout.Role) (as layout.Column, ok bool) {
	as = layout.Column{Name: c.name, DType: c.kind.dtype(), Width: c.width}
	switch {
	case o.held(c, role):
		as.Width = 2 * max(1, c.width) // each row's values, and then their marks
		return as, true
	case o.staged(c, role):
		as.DType = layout.Float64
		return as, true
	}
	return as, o.converts(c, role)
}

// sinkOf is where the values of a column go that is laid out there.
func (l *load) sinkOf(i int, d layout.Dest) sink {
	c := l.columns[i]
	if !l.held(c, l.wanted.roles[i]) {
		return sink{Dest: d, loss: l.losses[i]}
	}
	return sink{Dest: d.Lanes(0, c.width), marks: d.Lanes(max(1, c.width), c.width), marked: true}
}

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

// sameMarked is [sameRows] of a held column.
func sameMarked[T layout.Number](v layout.Strided[T]) func(rows []int64) bool {
	width := v.Width / 2
	return func(rows []int64) bool {
		first := v.Row(rows[0])
		for _, row := range rows[1:] {
			cells := v.Row(row)
			for f := range width {
				switch {
				case cells[width+f] != 0:
				case first[width+f] != 0:
					first[f], first[width+f] = cells[f], 0
				case first[f] != cells[f]:
					return false
				}
			}
		}
		return true
	}
}
