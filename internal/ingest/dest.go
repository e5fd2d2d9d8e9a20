package ingest

import (
	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// randomColumns opens the columns of a table to be read and written in any order.
func randomColumns(w *layout.Writer) func(i int) layout.ColumnWriter {
	return func(i int) layout.ColumnWriter { return w.Column(i, layout.Random) }
}

// dest is where a column of a source is written to.
func (l *load) dest(i int) layout.ColumnWriter {
	if at, ok := l.staged[i]; ok {
		return l.stage.Column(at, layout.Random)
	}
	return l.writer.Column(i, layout.Random)
}

// destRead is where the values of a column are written to as they are read.
func (l *load) destRead(i int) layout.ColumnWriter {
	if l.staysAsRead(i) {
		return l.writer.Column(i, layout.WriteOnce)
	}
	if _, staged := l.staged[i]; !staged && l.seenTiles[i] != nil && l.staysInOrder() {
		return l.writer.Column(i, layout.Draft)
	}
	return l.dest(i)
}

// staysAsRead tells whether nothing changes the values of a column, or their order, once they are read.
func (l *load) staysAsRead(i int) bool {
	_, staged := l.staged[i]
	return !staged && l.columns[i].Kind != column.KindText && l.plans[i].steps == (option.Steps{}) && l.staysInOrder()
}

// staysInOrder tells whether rows stay where they are read to.
func (l *load) staysInOrder() bool { return !l.Sort && l.Duplicates == "" && len(l.Regrid) == 0 }

// newTiles prepares to measure columns while they are read: those that a step is fitted to, or that
// are searched for missing values.
func (l *load) newTiles() {
	l.seenTiles = map[int]*tileMoments{}
	for i, c := range l.columns {
		s := l.plans[i].steps
		if c.Width == 0 && (c.Kind == column.KindFloat64 || c.Kind == column.KindFloat32) && (s.Scale != "" || s.Fill.How != "") {
			l.seenTiles[i] = newTileMoments(l.rows)
		}
	}
}

// tilesOf returns what was measured of a column while it was read; nil if its rows have moved since.
func (l *load) tilesOf(i int) *tileMoments {
	m := l.seenTiles[i]
	if m == nil || !m.valid() || l.kept != nil || l.order.from != nil {
		return nil
	}
	return m
}
