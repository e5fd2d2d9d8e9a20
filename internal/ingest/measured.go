package ingest

import (
	"context"
	"sync/atomic"

	"github.com/tensorcache/tensorcache/internal/moments"
	"github.com/tensorcache/tensorcache/layout"
)

// measured are the moments of a plain column of floats before its steps. Each tile of stepTile rows is measured by itself and all are then
// joined in their order: where one goroutine decodes a tile's values one after the other, while they are in the processor's cache, else where
// they lie. So the result depends neither on which, nor on workers and row groups.
type measured struct {
	tiles []moments.Moments
	known []bool // by tile: one goroutine decodes each
	off   atomic.Bool
}

// newMeasured makes room for what is measured of the columns while they are read: those that are fitted to, or looked through for what is missing.
func (l *load) newMeasured() {
	l.measured = map[int]*measured{}
	for i, c := range l.columns {
		s := l.steps(c, l.wanted.roles[i])
		if c.width == 0 && (c.kind == kindFloat64 || c.kind == kindFloat32) && (s.scale != "" || s.fill.How != "") {
			n := (l.rows + stepTile - 1) / stepTile
			l.measured[i] = &measured{tiles: make([]moments.Moments, n), known: make([]bool, n)}
		}
	}
}

// measuredOf is what was measured of a column while it was read; nil where its rows are not those any more.
func (l *load) measuredOf(i int) *measured {
	m := l.measured[i]
	if m == nil || m.off.Load() || l.kept != nil || l.order.from != nil {
		return nil
	}
	return m
}

// whole tells whether all tiles but a few are known, and no value of those is missing.
func (m *measured) whole(rows int64) bool {
	if m == nil {
		return false
	}
	known := 0
	for i, tile := range m.tiles {
		if m.known[i] {
			if known++; tile.N < min(stepTile, rows-int64(i)*stepTile) {
				return false
			}
		}
	}
	return known >= len(m.tiles)-len(m.tiles)/16
}

// fail says that values may not be what was measured.
func (m *measured) fail() {
	if m != nil {
		m.off.Store(true)
	}
}

// eachTile calls f with the moments of each tile of a column and its rows; one that is known is not read. m is nil where none is.
func eachTile[S float32 | float64](ctx context.Context, m *measured, from layout.Strided[S], f func(row, end int64, tile moments.Moments)) error {
	for row := int64(0); row < from.Rows; row += stepTile {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(row+stepTile, from.Rows)
		var tile moments.Moments
		if m != nil && m.known[row/stepTile] {
			tile = m.tiles[row/stepTile]
		} else {
			moments.See(&tile, from.Data[row:end])
		}
		f(row, end, tile)
	}
	return nil
}

// measuring is the tile of a column that a goroutine decodes.
type measuring[S float32 | float64] struct {
	to    *measured
	rows  int64 // of the column
	next  int64 // row of the tile, -1 where it was not seen from its beginning on
	block moments.Block[S]
}

// see takes in values as they are decoded, from a row on.
func (t *measuring[S]) see(row int64, values []S) {
	for len(values) > 0 {
		tile := row / stepTile
		end := min((tile+1)*stepTile, t.rows)
		n := min(end-row, int64(len(values)))
		switch row {
		case tile * stepTile:
			t.block, t.next = moments.Block[S]{}, row
		case t.next:
		default:
			t.next = -1
		}
		if t.next >= 0 {
			t.block.Add(values[:n])
			if t.next += n; t.next == end {
				t.to.tiles[tile], t.to.known[tile] = t.block.Moments(), true
			}
		}
		row, values = row+n, values[n:]
	}
}

// measurings are the tiles that a worker decodes, from chunk to chunk of a column.
type measurings struct {
	wide   measuring[float64]
	narrow measuring[float32]
}

// measure takes in values of a target as they are decoded, from a row of it on.
func measure[S storable](w *measurings, t target, row int64, values []S) {
	if t.measured == nil {
		return
	}
	switch v := any(values).(type) {
	case []float64:
		w.wide.of(t).see(row, v)
	case []float32:
		w.narrow.of(t).see(row, v)
	}
}

func (t *measuring[S]) of(a target) *measuring[S] {
	if t.to != a.measured {
		t.to, t.rows, t.next = a.measured, a.dest.Rows, -1
	}
	return t
}
