package layout

import (
	"encoding/binary"
	"fmt"
)

// MissingRun is a range of consecutive dataset rows with the same number of missing cells of a
// column.
type MissingRun struct {
	Row, Rows, Cells int64
}

// MissingRows are a column's rows with missing cells, ascending, as runs. The zero value is empty.
type MissingRows []MissingRun

// Add appends a row, which must come after all rows in m, with its number of missing cells. It does
// nothing if cells is 0.
func (m *MissingRows) Add(row, cells int64) {
	if cells == 0 {
		return
	}
	if n := len(*m); n > 0 {
		if last := &(*m)[n-1]; last.Cells == cells && last.Row+last.Rows == row {
			last.Rows++
			return
		}
	}
	*m = append(*m, MissingRun{row, 1, cells})
}

// Count returns the number of rows and of their missing cells.
func (m MissingRows) Count() (rows, cells int64) {
	for _, r := range m {
		rows, cells = rows+r.Rows, cells+r.Rows*r.Cells
	}
	return rows, cells
}

// AppendBinary appends three unsigned varints a run: the number of rows between the previous run
// and this one, rows − 1, and cells − 1.
func (m MissingRows) AppendBinary(dst []byte) []byte {
	end := int64(0)
	for _, r := range m {
		dst = r.AppendBinary(dst, end)
		end = r.Row + r.Rows
	}
	return dst
}

// AppendBinary appends one run; end is the end of the previous run.
func (r MissingRun) AppendBinary(dst []byte, end int64) []byte {
	dst = binary.AppendUvarint(dst, uint64(r.Row-end))
	dst = binary.AppendUvarint(dst, uint64(r.Rows-1))
	return binary.AppendUvarint(dst, uint64(r.Cells-1))
}

// ParseMissingRows parses the result of AppendBinary, for a column with that many rows, and cells
// per row. The error wraps [ErrTorn].
func ParseMissingRows(b []byte, rows, cells int64) (MissingRows, error) {
	var m MissingRows
	for end := int64(0); len(b) > 0; {
		var v [3]uint64
		for i := range v {
			n := 0
			if v[i], n = binary.Uvarint(b); n <= 0 {
				return nil, fmt.Errorf("%w: missing rows end within run %d", ErrTorn, len(m))
			}
			b = b[n:]
		}
		left := uint64(rows - end)
		if v[0] >= left || v[1] >= left-v[0] || v[2] >= uint64(cells) {
			return nil, fmt.Errorf("%w: run %d of missing rows lies outside %d rows of %d cells",
				ErrTorn, len(m), rows, cells)
		}
		r := MissingRun{end + int64(v[0]), int64(v[1]) + 1, int64(v[2]) + 1}
		m, end = append(m, r), r.Row+r.Rows
	}
	return m, nil
}
