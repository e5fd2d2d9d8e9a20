package plan

import (
	"fmt"

	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
	"github.com/tensorcache/tensorcache/window"
)

// missingRows returns the rows of a column with missing cells. They are found once and stored with
// the generation. A missing text is a code like any other.
func missingRows(h *store.Handle, c *layout.ManifestColumn) ([]window.MissingRow, error) {
	if c.Missing == 0 || !c.DType.IsFloat() {
		return nil, nil
	}
	rows, err := h.Derived("missing rows "+c.Name, func() (any, error) {
		runs, err := store.DerivedFile(h, "missing-"+c.Name,
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

// readMissing parses stored missing rows and compares them with the manifest.
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

// withFilled adds the cells that a load has filled to those that are still missing. A row counts
// the cells that it lacked before or lacks now, whichever is more: a fill only removes missing
// cells, and a difference is missing if the row before is.
func withFilled(h *store.Handle, c *layout.ManifestColumn,
	missing []window.MissingRow) ([]window.MissingRow, error) {
	if c.Prepared == nil || c.Prepared.Before == nil {
		return missing, nil
	}
	v, err := h.Derived("filled "+c.Name, func() (any, error) {
		runs, err := h.Data.BeforeFill(c)
		if err != nil {
			return nil, err
		}
		return merged(runs, missing), nil
	})
	if err != nil {
		return nil, err
	}
	return v.([]window.MissingRow), nil
}

// merged returns the rows of both, each with the greater number of cells.
func merged(runs layout.MissingRows, missing []window.MissingRow) []window.MissingRow {
	n, _ := runs.Count()
	out := make([]window.MissingRow, 0, int(n)+len(missing))
	for _, r := range runs {
		for row := r.Row; row < r.Row+r.Rows; row++ {
			cells := r.Cells
			for len(missing) > 0 && missing[0].Row <= row {
				if missing[0].Row < row {
					out = append(out, missing[0])
				} else {
					cells = max(cells, missing[0].Cells)
				}
				missing = missing[1:]
			}
			out = append(out, window.MissingRow{Row: row, Cells: cells})
		}
	}
	return append(out, missing...)
}
