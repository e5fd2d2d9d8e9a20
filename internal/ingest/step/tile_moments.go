package step

import (
	"context"
	"sync/atomic"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/moments"
)

// TileMoments are the moments of a plain column of floats before its steps, by tile of [TileRows]
// rows. A worker that decodes a whole tile adds its moments while the values are in the processor's
// cache. Other tiles are measured later, in memory. Tiles are joined in their order, so that the
// result depends neither on workers nor on row groups. It implements [column.Observer].
type TileMoments struct {
	rows    int64 // of the column
	tiles   []moments.Moments
	known   []bool // by tile; one goroutine sets each
	invalid atomic.Bool
}

// NewTileMoments returns the moments of a column of that many rows, without any value.
func NewTileMoments(rows int64) *TileMoments {
	n := (rows + TileRows - 1) / TileRows
	return &TileMoments{rows: rows, tiles: make([]moments.Moments, n), known: make([]bool, n)}
}

// Valid reports whether the column stores every value as it was observed.
func (m *TileMoments) Valid() bool { return !m.invalid.Load() }

// isNearlyComplete reports whether nearly all tiles are known, and none of them has a missing
// value. m may be nil.
func (m *TileMoments) isNearlyComplete() bool {
	if m == nil {
		return false
	}
	known := 0
	for i, tile := range m.tiles {
		if m.known[i] {
			if known++; tile.N < min(TileRows, m.rows-int64(i)*TileRows) {
				return false
			}
		}
	}
	return known >= len(m.tiles)-len(m.tiles)/16
}

// Invalidate records that the column may store other values than were observed.
func (m *TileMoments) Invalidate() { m.invalid.Store(true) }

// Worker returns the observer of one goroutine.
func (m *TileMoments) Worker() column.WorkerObserver {
	return &workerMoments{wide: tile[float64]{to: m}, narrow: tile[float32]{to: m}}
}

// eachTile calls f with the moments of each tile of a plain column, and its rows. It does not read
// a tile whose moments are known. m may be nil.
func eachTile(ctx context.Context, m *TileMoments, from source,
	f func(row, end int64, tile moments.Moments)) error {
	rows, _ := from.shape()
	for row := int64(0); row < rows; row += TileRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(row+TileRows, rows)
		if m != nil && m.known[row/TileRows] {
			f(row, end, m.tiles[row/TileRows])
		} else {
			f(row, end, from.moments(row, end))
		}
	}
	return nil
}

// workerMoments observes the values that one goroutine decodes.
type workerMoments struct {
	wide   tile[float64]
	narrow tile[float32]
}

// Float64s adds values from a row on.
func (w *workerMoments) Float64s(row int64, values []float64) { w.wide.add(row, values) }

// Float32s adds values from a row on.
func (w *workerMoments) Float32s(row int64, values []float32) { w.narrow.add(row, values) }

// tile is the tile that a goroutine decodes.
type tile[S float32 | float64] struct {
	to    *TileMoments
	next  int64 // row; -1 if the goroutine did not decode the beginning of the tile
	block moments.Block[S]
}

// add adds decoded values from a row on.
func (t *tile[S]) add(row int64, values []S) {
	for len(values) > 0 {
		i := row / TileRows
		end := min((i+1)*TileRows, t.to.rows)
		n := min(end-row, int64(len(values)))
		switch row {
		case i * TileRows:
			t.block, t.next = moments.Block[S]{}, row
		case t.next:
		default:
			t.next = -1
		}
		if t.next >= 0 {
			t.block.Add(values[:n])
			if t.next += n; t.next == end {
				t.to.tiles[i], t.to.known[i] = t.block.Moments(), true
			}
		}
		row, values = row+n, values[n:]
	}
}
