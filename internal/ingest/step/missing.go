package step

import (
	"context"

	"github.com/tensorcache/tensorcache/internal/moments"
	"github.com/tensorcache/tensorcache/layout"
)

// findMissing lists the cells of the column that are missing, nil if none is, and measures a plain
// column on the way.
func (r *columnRun) findMissing(ctx context.Context) (*layout.BeforeFill, error) {
	rows, width := r.source.shape()
	var list missingList
	var features []missingList // of a wide column
	if width > 1 {
		features = make([]missingList, width)
	}
	isPartial := false // a row lacks only some of its values
	search := func(row, end int64) {
		for ; row < end; row++ {
			cells := r.source.missing(row)
			list.add(row, cells)
			if cells == 0 {
				continue
			}
			isPartial = isPartial || cells < width
			for feature := range features {
				if _, _, ok := r.source.nextPresent(int64(feature), row, row+1); !ok {
					features[feature].add(row, 1)
				}
			}
		}
	}
	if r.source.isPlain() {
		var seen moments.Moments
		if err := eachTile(ctx, r.Tiles, r.source, func(row, end int64, tile moments.Moments) {
			if seen = seen.Join(tile); tile.N < end-row {
				search(row, end)
			}
		}); err != nil {
			return nil, err
		}
		r.seen = &seen
	} else {
		for row := int64(0); row < rows; row += TileRows {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if end := min(row+TileRows, rows); !r.source.isComplete(row, end) {
				search(row, end)
			}
		}
	}
	if list.close(); list.cells == 0 {
		return nil, nil
	}
	before := &layout.BeforeFill{Missing: list.cells, ListFile: layout.ListFile{Runs: list.bytes}}
	if isPartial {
		before.Cells = &layout.ListFile{}
		for i := range features {
			features[i].close()
			before.Cells.Runs = layout.AppendFeature(before.Cells.Runs, features[i].bytes)
			features[i] = missingList{}
		}
	}
	return before, nil
}

// missingList encodes the rows with missing cells as they are found, in the memory of their bytes.
type missingList struct {
	bytes []byte
	end   int64 // of the last run that is encoded
	run   layout.MissingRun
	cells int64
}

// add adds a row, after all that were added before. It does nothing if cells is 0.
func (m *missingList) add(row, cells int64) {
	if cells == 0 {
		return
	}
	m.cells += cells
	if m.run.Cells == cells && m.run.Row+m.run.Rows == row {
		m.run.Rows++
		return
	}
	m.close()
	m.run = layout.MissingRun{Row: row, Rows: 1, Cells: cells}
}

// close encodes the last run.
func (m *missingList) close() {
	if m.run.Rows > 0 {
		m.bytes = m.run.AppendBinary(m.bytes, m.end)
		m.end = m.run.Row + m.run.Rows
		m.run = layout.MissingRun{}
	}
}
