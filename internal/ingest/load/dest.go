package load

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/rows"
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

// stepText returns the step of regrid, "" without regrid.
func (l *load) stepText() string {
	s, err := l.RegridStep()
	if err != nil || s == nil {
		return ""
	}
	return s.String()
}

// canMiss refuses inserted rows if a value column has a dtype without missing values. Integers of a
// text file become floats, as if a cell were missing.
func (l *load) canMiss(added int64) error {
	for i, c := range l.columns {
		d := l.dest(i)
		switch {
		case l.wanted.roles[i] != layout.RoleValue || d.DType == layout.Text || d.DType.IsFloat():
		case c.Inferred && d.DType == layout.Int64 && exactFloats(layout.Values[int64](d)):
			c.Kind = column.KindFloat64
			if l.setColumn(i, c); l.plans[i].narrowed {
				l.losses[i] = &column.Loss{}
			}
		default:
			hint := fmt.Sprintf(
				"fill it with --fill %s=forward, or store it as floats with --dtype %s=float32",
				c.Name, c.Name)
			if c.Kind == column.KindTime || c.Kind == column.KindDuration {
				hint = "leave the column out with --columns"
			}
			return &loaderr.SourceError{
				Path: l.readers[0].Path(), Column: c.Name, Hint: hint,
				Reason: fmt.Sprintf(
					"is %s, which cannot say that its values in %d inserted rows are missing",
					d.DType, added),
			}
		}
	}
	return nil
}

// exactFloats reports whether float64 has all integers of a column exactly.
func exactFloats(v layout.Strided[int64]) bool {
	const most = 1 << 53
	for row := range v.Rows {
		for _, n := range v.Row(row) {
			if n > most || n < -most {
				return false
			}
		}
	}
	return true
}

// complete writes the item and the time of inserted rows, which are at their places already.
func (l *load) complete(m *rows.Map, offsets []int64, step int64) {
	for i := range l.columns {
		switch l.wanted.roles[i] {
		case layout.RoleTime:
			rows.CompleteTimes(m, offsets, l.dest(i), step)
		case layout.RoleItemID:
			rows.CompleteItems(m, offsets, l.dest(i))
		}
	}
}
