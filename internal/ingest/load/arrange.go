package load

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/rows"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// arrange finds out which rows of the sources are those of the result, in which order, and moves them there. It returns the
// items' first rows and, at the end, the number of rows.
func (l *load) arrange(ctx context.Context) ([]int64, error) {
	l.meter.Enter(progress.Arrange)
	k := l.keys(l.words(), randomColumns(l.writer))
	l.order = &rows.Map{Dir: l.Dir, Rows: l.rows}
	step, err := l.gridStep(k.Clock)
	if err != nil {
		return nil, err
	}
	if l.Sort {
		if err := l.sort(ctx, k); err != nil {
			return nil, err
		}
	}
	offsets, twice, err := rows.FindItems(ctx, k, l.order, l.Duplicates != "")
	if err == nil && twice {
		offsets, err = l.deduplicate(ctx, k, offsets)
	}
	if err == nil {
		err = l.matchItems(k, l.order, offsets, step)
	}
	if err == nil && step > 0 {
		offsets, err = rows.Regrid(ctx, k, l.order, offsets, step, l.stepText(), l.canMiss)
	}
	if err != nil {
		return nil, err
	}
	if err := l.conform(); err != nil { // a grid may have widened columns
		return nil, err
	}
	if err := l.move(ctx, l.order); err != nil {
		return nil, err
	}
	if l.order.Added > 0 {
		l.complete(l.order, offsets, step)
	}
	return offsets, nil
}

// words returns the words of each text column, in the order in which its readers met them.
func (l *load) words() map[string][]string {
	words := map[string][]string{}
	for i, d := range l.dicts {
		words[l.columns[i].Name] = d.Words
	}
	return words
}

// gridStep is the step of regrid in the time column's unit, 0 without one.
func (l *load) gridStep(clock column.Column) (int64, error) {
	s, err := l.RegridStep()
	if err != nil || s == nil {
		return 0, err
	}
	unit := ""
	if clock.Kind == column.KindTime {
		unit = clock.Unit
	}
	v, ok := s.In(unit)
	switch {
	case ok:
		return v, nil
	case unit == "":
		return 0, &loaderr.OptionError{Field: "regrid", Value: s.String(), Allowed: "an integer: the time column holds integers"}
	}
	return 0, &loaderr.OptionError{Field: "regrid", Value: s.String(), Allowed: "a multiple of 1" + unit + ", the unit of the time column"}
}

// move moves the rows of every column: within the column by way of a column of scratch, or, where their number changes, into a
// result that is laid out anew, for which the one before is scratch.
func (l *load) move(ctx context.Context, m *rows.Map) (err error) {
	if m.From == nil {
		return nil
	}
	if m.Rows == l.rows && m.Added == 0 {
		for i := range l.columns {
			if err := l.permute(ctx, l.dest(i), m.From); err != nil {
				return err
			}
			l.moved(i + 1)
		}
		return nil
	}
	filled, stage, staged := l.writer, l.stage, l.staged
	l.writer, l.stage = nil, nil
	defer func() { err = errors.Join(err, filled.Abort(), stage.Close()) }()
	if err := os.Remove(filepath.Join(l.Dir, layout.DataFile)); err != nil {
		return err
	}
	l.rows = m.Rows
	l.moved(0)
	l.meter.RowsTotal.Store(m.Rows)
	if err := l.lay(); err != nil {
		return err
	}
	for i := range l.columns {
		from := filled.Column(i, layout.Random)
		if at, ok := staged[i]; ok {
			from = stage.Column(at, layout.Random)
		}
		if err := rows.CopyRows(ctx, l.Workers, l.dest(i), 0, from, m.From); err != nil {
			return err
		}
		l.moved(i + 1)
	}
	return nil
}

// moved notes that so many columns are where they belong.
func (l *load) moved(columns int) {
	part := float64(columns) / float64(len(l.columns))
	if l.Sort { // which was half of the work
		part = (1 + part) / 2
	}
	l.meter.Rows.Store(int64(part * float64(l.rows)))
}

// permute moves the rows of one column by way of a column of scratch.
func (l *load) permute(ctx context.Context, d layout.ColumnWriter, from []int64) error {
	c := d.Column
	c.Role = layout.RoleItemID // plain, never packed
	s, err := column.NewScratch(l.Dir, layout.Table{Rows: d.Rows, Columns: []layout.Column{c}})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := rows.CopyRows(ctx, l.Workers, s.Column(0, layout.Random), 0, d, from); err != nil {
		return err
	}
	return rows.CopyRows(ctx, l.Workers, d, 0, s.Column(0, layout.Random), nil)
}

// place names the source and its row (from 1) of a row of the result.
func (l *load) place(row int64) loaderr.SourceError {
	if l.order != nil {
		row = l.order.At(row)
	}
	return l.sourcePlace(row)
}

// sourcePlace names the source and its row (from 1) of a row of all sources together, of those that the filters let through. What was
// inserted stands in none.
func (l *load) sourcePlace(row int64) loaderr.SourceError {
	if row == rows.Inserted {
		return loaderr.SourceError{Path: l.readers[0].Path()}
	}
	if l.kept != nil {
		row = l.kept.At(row)
	}
	for _, r := range l.readers {
		if row < r.Rows() {
			return loaderr.SourceError{Path: r.Path(), Row: source.SourceRow(r, row) + 1, Line: r.Line(row)}
		}
		row -= r.Rows()
	}
	return loaderr.SourceError{Row: row + 1}
}

// keys finds the item and time columns of the load.
func (l *load) keys(vocab map[string][]string, dest func(i int) layout.ColumnWriter) *rows.Keys {
	return rows.NewKeys(l.columns, l.wanted.roles, vocab, dest, l.sourcePlace)
}

// sort orders the rows of the map. Its three passes are half of the work; moving the columns is the other.
func (l *load) sort(ctx context.Context, k *rows.Keys) error {
	var passed atomic.Int64
	return rows.Sort(ctx, l.Workers, k, l.order, func(rows int64) { l.meter.Rows.Store(passed.Add(rows) / 6) })
}

// deduplicate keeps one row of each item and time, as the options say.
func (l *load) deduplicate(ctx context.Context, k *rows.Keys, offsets []int64) ([]int64, error) {
	if err := l.order.Own(); err != nil {
		return nil, err
	}
	if l.Duplicates == option.DuplicatesMean {
		err := parallel.For(ctx, l.Workers, len(l.columns), "", func(_, i int) error {
			if l.wanted.roles[i] != layout.RoleValue {
				return nil
			}
			return rows.Average(ctx, k, l.order, offsets, l.dest(i), l.columns[i], l.plans[i].integers)
		})
		if err != nil {
			return nil, err
		}
	}
	return rows.Deduplicate(k, l.order, offsets, l.Duplicates == option.DuplicatesLast), nil
}
