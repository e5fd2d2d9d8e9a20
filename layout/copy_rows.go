package layout

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/mmapfile"
)

// Copier copies rows of a generation into a Writer whose table has the same columns and layout. It
// copies bytes, all columns at once, and updates checksum and statistics as [WriteAt] does. It is
// safe for concurrent use on rows of the Writer that do not overlap.
type Copier struct {
	to, from []byte
	fields   []copiedField
	rows     [2]int64
	write    func(b []byte, at int64) error
}

// copiedField describes one field: the offsets of its first row in both files, the bytes of a row,
// and the accumulators of its columns.
type copiedField struct {
	to, from, rowBytes int64
	accumulators       []*accumulator
}

// Copier returns a Copier that reads an open generation, which must stay open until the last copy.
// The error wraps ErrSchema if the generation has a different layout.
func (w *Writer) Copier(d *Data) (*Copier, error) {
	if w.data == nil {
		return nil, errFinished
	}
	if d.Manifest.Layout != w.table.Layout || len(d.Manifest.Columns) != len(w.table.Columns) {
		return nil, fmt.Errorf("%w: %d columns in layout %s cannot be copied to %d in layout %s",
			ErrSchema,
			len(d.Manifest.Columns), d.Manifest.Layout, len(w.table.Columns), w.table.Layout)
	}
	c := &Copier{to: w.data.Bytes(), rows: [2]int64{w.table.Rows, d.Manifest.Rows},
		write: w.data.WriteAt}
	whole, err := d.data.Bytes(0, d.data.Len())
	if err != nil {
		return nil, err
	}
	c.from = whole
	for i, t := range w.table.Columns {
		o := d.Manifest.Columns[i]
		if o.Name != t.Name || o.DType != t.DType || o.Width() != t.Width ||
			o.Unit != t.Unit || o.Zone != t.Zone || o.Role != t.Role {
			return nil, fmt.Errorf("%w: column %q cannot be copied to column %q", ErrSchema,
				o.Name, t.Name)
		}
	}
	for _, f := range w.fields {
		first := f.columns[0]
		if w.strides[first] != d.Manifest.Columns[first].Strides[0] {
			return nil, fmt.Errorf("%w: column %q has rows of %d and %d bytes", ErrSchema,
				w.table.Columns[first].Name, d.Manifest.Columns[first].Strides[0], w.strides[first])
		}
		field := copiedField{to: w.offsets[first], from: d.Manifest.Columns[first].Offset,
			rowBytes: w.strides[first]}
		for _, i := range f.columns {
			field.accumulators = append(field.accumulators, w.Column(i, WriteOnce).accumulator)
		}
		c.fields = append(c.fields, field)
	}
	return c, nil
}

// Copy copies count rows of the generation, starting at row from, to the rows that start at to.
func (c *Copier) Copy(to, from, count int64) error {
	if count < 0 || to < 0 || from < 0 || to > c.rows[0]-count || from > c.rows[1]-count {
		return fmt.Errorf("%w: %d rows from %d of %d to %d of %d", mmapfile.ErrRange, count, from,
			c.rows[1], to, c.rows[0])
	}
	for _, f := range c.fields {
		at, rows := f.to+to*f.rowBytes, c.from[f.from+from*f.rowBytes:][:count*f.rowBytes]
		dense := len(f.accumulators) == 1 // otherwise columns are interleaved
		added := dense && f.accumulators[0].add(to, rows)
		if len(rows) < minWriteBytes || c.write(rows, at) != nil { // see WriteAt
			copy(c.to[at:][:count*f.rowBytes], rows)
		}
		for _, a := range f.accumulators {
			if !added {
				a.stored(to, count)
			}
		}
	}
	return nil
}
