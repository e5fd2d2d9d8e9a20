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

// destination opens the column that a column of the sources is read into, for reading and writing
// in any order.
func (l *load) destination(i int) layout.ColumnWriter {
	if at, ok := l.scratchIndex[i]; ok {
		return l.scratch.Column(at, layout.Random)
	}
	return l.writer.Column(i, layout.Random)
}

// readerDestination opens the same column as destination for a reader, which writes each row once.
// The mode depends on what happens to the values after they are read.
func (l *load) readerDestination(i int) layout.ColumnWriter {
	if l.staysAsRead(i) {
		return l.writer.Column(i, layout.WriteOnce)
	}
	if !l.plans[i].inScratch && l.tileMoments[i] != nil && l.staysInOrder() {
		return l.writer.Column(i, layout.Draft)
	}
	return l.destination(i)
}

// staysAsRead reports whether nothing changes the values of a column, or their order, once they are
// read.
func (l *load) staysAsRead(i int) bool {
	p := l.plans[i]
	return !p.inScratch && l.columns[i].Kind != column.KindText && len(p.steps) == 0 &&
		l.staysInOrder()
}

// staysInOrder reports whether rows stay where they are read to.
func (l *load) staysInOrder() bool { return !l.Sort && l.Duplicates == "" && len(l.Regrid) == 0 }

// newTileMoments prepares to measure, while they are read, the columns whose steps use moments.
func (l *load) newTileMoments() {
	l.tileMoments = map[int]*step.TileMoments{}
	for i, c := range l.columns {
		_, widened := l.kinds[i] // a reader passes no integers on to be measured
		if c.Width == 0 && (c.Kind == column.KindFloat64 || c.Kind == column.KindFloat32) &&
			!widened && l.plans[i].steps.UseMoments() {
			l.tileMoments[i] = step.NewTileMoments(l.rows)
		}
	}
}

// tileMomentsOf returns the moments of a column that were measured while it was read. It returns
// nil if its rows have moved since.
func (l *load) tileMomentsOf(i int) *step.TileMoments {
	m := l.tileMoments[i]
	if m == nil || !m.Valid() || l.selected != nil || l.rowOrder.From != nil {
		return nil
	}
	return m
}
