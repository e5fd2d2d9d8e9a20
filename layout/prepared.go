package layout

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"
)

// Prepared lists the steps that a load applied to a column's values before it scaled them, in this
// order: fill, clip, log1p, diff.
type Prepared struct {
	// Fill is value, mean, forward, backward, linear or "".
	Fill string `json:"fill,omitempty"`
	// FillValue are the numbers that value and mean filled with. There is one for value, and one
	// per feature for mean, or per item and feature if FillPer is item. A manifest of an earlier
	// version may have integers beyond 2^53 here and as bounds. They are read as the nearest
	// float64.
	FillValue Floats   `json:"fill_value,omitempty"`
	FillPer   string   `json:"fill_per,omitempty"`
	ClipLow   *float64 `json:"clip_low,omitempty"`
	ClipHigh  *float64 `json:"clip_high,omitempty"`
	Log1p     bool     `json:"log1p,omitempty"`
	Diff      bool     `json:"diff,omitempty"`
	// First is, per item and feature, the value that the first difference starts from (after
	// log1p). It is nil if there are too many to store.
	First Floats `json:"first,omitempty"`
	// Last is, stored like First, the value of the last row (after log1p). The first difference of
	// appended rows starts from it.
	Last Floats `json:"last,omitempty"`
	// Before lists the cells that were missing before the fill; nil if none was.
	Before *BeforeFill `json:"before,omitempty"`
}

// BeforeFill names the file that lists the cells that were missing before a fill.
type BeforeFill struct {
	Missing int64  `json:"missing"` // cells
	File    string `json:"file"`
	XXH64   string `json:"xxh64"` // of the file's bytes
	// Runs are the file's bytes, from [MissingRows.AppendBinary], for [Writer.Finish]; otherwise
	// nil.
	Runs []byte `json:"-"`
}

// write writes the file into a generation's directory.
func (b *BeforeFill) write(dir, column string) error {
	b.File, b.XXH64 = BeforeFillFile(column), formatHash(xxhash.Sum64(b.Runs))
	err := os.WriteFile(filepath.Join(dir, b.File), b.Runs, 0o600)
	b.Runs = nil
	return err
}

// BeforeFill returns a column's cells that were missing before the load filled them, or nil if it
// filled none.
func (d *Data) BeforeFill(c *ManifestColumn) (MissingRows, error) {
	if c.Prepared == nil || c.Prepared.Before == nil {
		return nil, nil
	}
	m := d.before[c.Name]
	b, err := m.Bytes(0, m.Len())
	if err != nil {
		return nil, err
	}
	return ParseMissingRows(b, c.Shape[0], max(c.Width(), 1))
}

// Floats are float64 values that may be NaN, which is null in JSON.
type Floats []float64

// MarshalJSON writes NaN and infinities as null.
func (f Floats) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, v := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		if math.IsInf(v, 0) || v != v {
			b.WriteString("null")
			continue
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		b.Write(text)
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

// UnmarshalJSON reads null as NaN.
func (f *Floats) UnmarshalJSON(b []byte) error {
	var in []*float64
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*f = make(Floats, len(in))
	for i, v := range in {
		if (*f)[i] = math.NaN(); v != nil {
			(*f)[i] = *v
		}
	}
	return nil
}

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
