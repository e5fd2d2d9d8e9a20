package load

import (
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/layout"
)

// tables returns the table of the result, and that of scratch, for the columns that are read as
// another dtype than they are stored as.
func (l *load) tables() (t, scratch layout.Table) {
	t = layout.Table{Rows: l.rows}
	scratch = layout.Table{Rows: l.rows}
	l.scratchIndex = map[int]int{}
	for i, c := range l.columns {
		if s := l.plans[i].steps; c.Inferred && c.Kind == column.KindInt64 && len(s) > 0 &&
			len(s.Exact()) == 0 {
			c.Kind = column.KindFloat64 // a decimal in a later row then needs no widening
			l.setColumn(i, c)
		}
		p := l.plans[i]
		t.Columns = append(t.Columns, p.stored)
		if p.inScratch {
			l.scratchIndex[i] = len(scratch.Columns)
			scratch.Columns = append(scratch.Columns, p.readAs)
		}
	}
	t.Layout = l.layoutOf(t.Columns)
	t.Columns = append(t.Columns, l.CalendarLayout()...)
	return t, scratch
}

// layoutOf returns the layout of the result, whose value columns of the sources are stored as given.
func (l *load) layoutOf(stored []layout.Column) string {
	if l.base != nil {
		return l.base.Data.Manifest.Layout
	}
	stored = slices.Clone(stored)
	for i := range stored {
		// windows may leave these out: see layout.ManifestColumn.Calendar
		stored[i].NamedOnly = stored[i].NamedOnly || l.columns[i].Calendar != ""
	}
	return l.LayoutOf(stored)
}
