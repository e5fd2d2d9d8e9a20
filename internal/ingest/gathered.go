package ingest

import "github.com/tensorcache/tensorcache/layout"

// gatheredRows is how many values are gathered before they are written.
const gatheredRows = 32 << 10

// gathered are values of a column that follow each other, on the way to be written at once (see [layout.Put]).
type gathered[D float32 | float64] struct {
	to     layout.Dest
	row    int64 // of the first
	values []D
}

// gather gives a way to write the values of one feature from a row on, as [putFeature] does, and one to end that.
func gather(to layout.Dest) (put func(feature int, row int64, values []float64) (bad int), end func()) {
	if to.Width == 0 && to.Collects(min(gatheredRows, to.Rows)) {
		switch to.DType {
		case layout.Float32:
			g := &gathered[float32]{to: to, values: make([]float32, 0, gatheredRows)}
			return g.put, g.end
		case layout.Float64:
			g := &gathered[float64]{to: to, values: make([]float64, 0, gatheredRows)}
			return g.put, g.end
		}
	}
	return func(feature int, row int64, values []float64) int { return putFeature(to, feature, row, values) }, func() {}
}

// put takes values of a plain column, of which all fit.
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

// end writes what was gathered.
func (g *gathered[D]) end() {
	layout.Put(g.to, g.row, g.values)
	g.values = g.values[:0]
}
