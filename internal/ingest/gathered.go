package ingest

import (
	"context"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/layout"
)

// results is where the results of a column's steps go.
type results interface {
	// room is where n values of a feature from a row on are computed, before they are put.
	room(row int64, n int) []float64
	// put stores them. bad is the place of the first that does not fit, -1 where all do.
	put(feature int, row int64, values []float64) (bad int)
	// end stores what is left.
	end()
}

// resultsIn stores values that lie there already through the mapping, once its pages are ready, and others, where they are many, past
// it.
func (p *preparation) resultsIn(ctx context.Context, to layout.Dest) (results, error) {
	plain := to.Width == 0 && to.Step == 1
	collects := plain && to.Collects(min(column.GatherRows, to.Rows))
	var ready int64
	if !collects || !p.apart {
		if ready = to.Rows; plain && to.DType == layout.Float64 && p.readOnce() {
			ready = min(pieceRows, to.Rows)
		}
		populated, err := populate(ctx, to, ready)
		if err != nil {
			return nil, err
		}
		collects = collects && !populated
	}
	switch {
	case collects && to.DType == layout.Float32:
		return newGathered[float32](p.summed), nil
	case collects && to.DType == layout.Float64:
		return newGathered[float64](p.summed), nil
	case plain && to.DType == layout.Float64:
		return &inPlace{to: to, summed: p.summed, data: layout.Values[float64](to).Data, ready: ready}, nil
	}
	return byFeature{to, p.summed, make([]float64, stepTile)}, nil
}

// populatedRows is how many rows are readied at a time.
const populatedRows = 1 << 20

// populate readies the first rows of a column to be written through the mapping, where the system has a way to.
func populate(ctx context.Context, to layout.Dest, rows int64) (ok bool, err error) {
	for row := int64(0); row < rows; row += populatedRows {
		if !to.Populate(row, min(populatedRows, rows-row)) {
			return false, nil
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
	}
	return true, nil
}

// pieceRows is how many rows are computed in place after their pages are readied, those of a large page.
const pieceRows = layout.CollectBytes / 8

// inPlace computes values where they stay.
type inPlace struct {
	to, summed layout.Dest
	data       []float64
	ready      int64 // rows that are populated
}

func (r *inPlace) room(row int64, n int) []float64 {
	if end := row + int64(n); end > r.ready {
		more := min(max(pieceRows, end-r.ready), r.to.Rows-r.ready)
		r.to.Populate(r.ready, more) // what cannot be had is a fault when it is written
		r.ready += more
	}
	return r.data[row:][:n]
}

func (r *inPlace) put(_ int, row int64, values []float64) (bad int) {
	r.summed.Sum(row, int64(len(values)))
	return -1
}

func (r *inPlace) end() {}

// byFeature stores values of any dtype and shape one by one.
type byFeature struct {
	to, summed layout.Dest
	tile       []float64
}

func (r byFeature) room(_ int64, n int) []float64 { return r.tile[:n] }
func (r byFeature) put(feature int, row int64, values []float64) (bad int) {
	bad = putFeature(r.to, feature, row, values)
	if bad < 0 && r.to.Width == 0 {
		r.summed.Sum(row, int64(len(values)))
	}
	return bad
}
func (r byFeature) end() {}

// gathered are values of a plain column that follow each other, on the way to be written at once (see [layout.Put]).
type gathered[D float32 | float64] struct {
	to     layout.Dest
	tile   []float64
	row    int64 // of the first
	values []D
}

func newGathered[D float32 | float64](to layout.Dest) *gathered[D] {
	return &gathered[D]{to: to, tile: make([]float64, stepTile), values: make([]D, 0, column.GatherRows)}
}

func (g *gathered[D]) room(_ int64, n int) []float64 { return g.tile[:n] }

func (g *gathered[D]) put(_ int, row int64, values []float64) (bad int) {
	n := len(g.values)
	if row != g.row+int64(n) || n+len(values) > cap(g.values) {
		g.end()
		g.row, n = row, 0
	}
	g.values = g.values[:n+len(values)]
	for i, v := range values {
		g.values[n+i] = D(v)
	}
	return -1
}

func (g *gathered[D]) end() {
	layout.Put(g.to, g.row, g.values)
	g.values = g.values[:0]
}
