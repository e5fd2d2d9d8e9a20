package load

import (
	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/step"
	"github.com/tensorcache/tensorcache/layout"
)

// randomColumns returns a function that opens columns of a table for reading and writing in any
// order.
func randomColumns(w *layout.Writer) func(i int) layout.ColumnWriter {
	return func(i int) layout.ColumnWriter { return w.Column(i, layout.Random) }
}

// dest opens the column that a column of the sources is read into, in any order.
func (l *load) dest(i int) layout.ColumnWriter {
	if at, ok := l.staged[i]; ok {
		return l.stage.Column(at, layout.Random)
	}
	return l.writer.Column(i, layout.Random)
}

// destRead opens the column that a column of the sources is read into, for the reader.
func (l *load) destRead(i int) layout.ColumnWriter {
	if l.staysAsRead(i) {
		return l.writer.Column(i, layout.WriteOnce)
	}
	if _, staged := l.staged[i]; !staged && l.tileMoments[i] != nil && l.staysInOrder() {
		return l.writer.Column(i, layout.Draft)
	}
	return l.dest(i)
}

// staysAsRead reports whether nothing changes the values of a column, or their order, once they are
// read.
func (l *load) staysAsRead(i int) bool {
	_, staged := l.staged[i]
	return !staged && l.columns[i].Kind != column.KindText && len(l.plans[i].steps) == 0 &&
		l.staysInOrder()
}

// staysInOrder reports whether rows stay where they are read to.
func (l *load) staysInOrder() bool { return !l.Sort && l.Duplicates == "" && len(l.Regrid) == 0 }

// newTiles prepares to measure the columns whose steps use their moments, while they are read.
func (l *load) newTiles() {
	l.tileMoments = map[int]*step.TileMoments{}
	for i, c := range l.columns {
		if c.Width == 0 && (c.Kind == column.KindFloat64 || c.Kind == column.KindFloat32) &&
			l.plans[i].steps.Measured() {
			l.tileMoments[i] = step.NewTileMoments(l.rows)
		}
	}
}

// tilesOf returns the moments of a column that were measured while it was read, nil if its rows
// have moved since.
func (l *load) tilesOf(i int) *step.TileMoments {
	m := l.tileMoments[i]
	if m == nil || !m.Valid() || l.selected != nil || l.order.From != nil {
		return nil
	}
	return m
}
