package feed

import (
	"encoding/binary"
	"fmt"

	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
	"github.com/tensorcache/tensorcache/window"
)

// missingRows lists a column's rows with missing cells; found once, and kept with the generation on
// disk. A text that is missing is a code like others.
func missingRows(h *store.Handle, c *layout.ManifestColumn) ([]window.MissingRow, error) {
	if c.Missing == 0 || !c.DType.IsFloat() {
		return nil, nil
	}
	rows, err := h.Derived("missing rows "+c.Name, func() (any, error) {
		runs, err := store.Kept(h, "missing-"+c.Name,
			func() (layout.MissingRows, error) { return findMissing(h.Data, c) },
			func(m layout.MissingRows) []byte { return m.AppendBinary(nil) },
			func(b []byte) (layout.MissingRows, error) { return readMissing(b, c) })
		if err != nil {
			return nil, err
		}
		n, _ := runs.Count()
		out := make([]window.MissingRow, 0, n)
		for _, r := range runs {
			for row := range r.Rows {
				out = append(out, window.MissingRow{Row: r.Row + row, Cells: r.Cells})
			}
		}
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	return rows.([]window.MissingRow), nil
}

func findMissing(d *layout.Data, c *layout.ManifestColumn) (layout.MissingRows, error) {
	switch c.DType {
	case layout.Float64:
		return scanMissing(d, c, func(v float64) bool { return v != v })
	case layout.Float16:
		return scanMissing(d, c, layout.Half.IsNaN)
	}
	return scanMissing(d, c, func(v float32) bool { return v != v })
}

func scanMissing[T layout.Native](d *layout.Data, c *layout.ManifestColumn,
	isMissing func(T) bool) (out layout.MissingRows, err error) {
	v, err := layout.View[T](d, c)
	if err != nil {
		return nil, err
	}
	for row := range v.Rows {
		cells := int64(0)
		for _, x := range v.Row(row) {
			if isMissing(x) {
				cells++
			}
		}
		out.Add(row, cells)
	}
	return out, nil
}

// readMissing holds what was kept against the manifest.
func readMissing(b []byte, c *layout.ManifestColumn) (layout.MissingRows, error) {
	m, err := layout.ParseMissingRows(b, c.Shape[0], max(c.Width(), 1))
	if err != nil {
		return nil, err
	}
	if _, cells := m.Count(); cells != c.Missing {
		return nil, fmt.Errorf("%w: %d missing cells of column %q, want %d", layout.ErrTorn, cells,
			c.Name, c.Missing)
	}
	return m, nil
}

// largestSteps are the largest steps in time by blocks of rows; found once, and kept with the
// generation on disk: from them any max_step is answered.
func largestSteps(h *store.Handle, t *window.Table) ([]uint64, error) {
	want := (len(t.Times) + window.StepRows - 1) / window.StepRows
	return store.Kept(h, "steps", func() ([]uint64, error) { return window.LargestSteps(t) },
		func(steps []uint64) []byte {
			b := make([]byte, 0, len(steps)*8)
			for _, s := range steps {
				b = binary.LittleEndian.AppendUint64(b, s)
			}
			return b
		},
		func(b []byte) ([]uint64, error) {
			if len(b) != want*8 {
				return nil, fmt.Errorf("%w: %d bytes of steps, want %d", layout.ErrTorn,
					len(b), want*8)
			}
			steps := make([]uint64, want)
			for i := range steps {
				steps[i] = binary.LittleEndian.Uint64(b[i*8:])
			}
			return steps, nil
		})
}
