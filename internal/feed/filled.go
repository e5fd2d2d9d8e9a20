package feed

import (
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
	"github.com/tensorcache/tensorcache/window"
)

// withFilled counts the cells that a load has filled as missing, beside those that still are. A row
// counts what it lacked before or lacks now, whichever is more: a fill only takes away, and
// differences lack what the rows before them lack.
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

// merged has the rows of both, each with the greater number of cells.
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
