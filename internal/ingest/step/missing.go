package step

import (
	"context"

	"github.com/tensorcache/tensorcache/internal/moments"
	"github.com/tensorcache/tensorcache/layout"
)

// noteMissing keeps which cells of a column are missing before they are filled, and measures a plain column on the way.
func noteMissing[S float32 | float64](ctx context.Context, p *preparation, from layout.Strided[S]) error {
	var n missingNotes
	var seen moments.Moments
	look := func(row, end int64) {
		for r := row; r < end; r++ {
			cells := int64(0)
			for _, v := range from.Row(r) {
				if v != v {
					cells++
				}
			}
			n.add(r, cells)
		}
	}
	if from.Contiguous() && from.Width == 1 {
		if err := eachTile(ctx, p.Tiles, from, func(row, end int64, tile moments.Moments) {
			if seen = seen.Join(tile); tile.N < end-row {
				look(row, end)
			}
		}); err != nil {
			return err
		}
		p.seen = &seen
	} else {
		for row := int64(0); row < from.Rows; row += TileRows {
			if err := ctx.Err(); err != nil {
				return err
			}
			end := min(row+TileRows, from.Rows)
			if from.Contiguous() && !anyMissing(from.Data[row*from.Width:end*from.Width]) {
				continue
			}
			look(row, end)
		}
	}
	if n.close(); n.cells > 0 {
		p.missing = &layout.BeforeFill{Missing: n.cells, Runs: n.bytes}
	}
	p.full = n.cells == 0
	return nil
}

// anyMissing tells at the pace of memory whether one of the values may be NaN.
func anyMissing[S float32 | float64](values []S) bool {
	var a, b, c, d S // a NaN stays in a sum; so does what infinities make of it, which then is looked at for nothing
	i := 0
	for ; i+4 <= len(values); i += 4 {
		a, b, c, d = a+values[i], b+values[i+1], c+values[i+2], d+values[i+3]
	}
	for ; i < len(values); i++ {
		a += values[i]
	}
	sum := a + b + c + d
	return sum != sum
}

// missingNotes encodes missing rows as they come, in the memory of their bytes.
type missingNotes struct {
	bytes []byte
	end   int64 // of the last run that is encoded
	run   layout.MissingRun
	cells int64
}

func (n *missingNotes) add(row, cells int64) {
	if cells == 0 {
		return
	}
	n.cells += cells
	if n.run.Cells == cells && n.run.Row+n.run.Rows == row {
		n.run.Rows++
		return
	}
	n.close()
	n.run = layout.MissingRun{Row: row, Rows: 1, Cells: cells}
}

func (n *missingNotes) close() {
	if n.run.Rows > 0 {
		n.bytes = n.run.AppendBinary(n.bytes, n.end)
		n.end = n.run.Row + n.run.Rows
		n.run = layout.MissingRun{}
	}
}
