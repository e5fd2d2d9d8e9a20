package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/note"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/rows"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// orderRows finds the rows of the result and their order, and moves them there. It returns the
// first row of each item, and the number of rows.
func (l *load) orderRows(ctx context.Context) ([]int64, error) {
	l.meter.Enter(progress.Arrange)
	k := l.keys(l.words(), randomColumns(l.writer))
	l.rowOrder = &rows.Map{Dir: l.Dir, Rows: l.rows}
	step, err := l.gridStep(k.Clock)
	if err != nil {
		return nil, err
	}
	if l.Sort {
		if err := l.checkSeries(ctx, k); err != nil {
			return nil, err
		}
		if err := l.sort(ctx, k); err != nil {
			return nil, err
		}
	}
	offsets, duplicates, err := rows.FindItems(ctx, k, l.rowOrder, l.Duplicates != "")
	if err == nil && duplicates > 0 {
		offsets, err = l.deduplicate(ctx, k, offsets, duplicates)
	}
	if err == nil {
		err = l.matchItems(k, l.rowOrder, offsets, step)
	}
	if err == nil && step > 0 {
		offsets, err = rows.Regrid(ctx, k, l.rowOrder, offsets, step, l.regridText(),
			l.allowInsertedRows)
	}
	if err != nil {
		return nil, err
	}
	if err := l.matchTypes(); err != nil { // inserted rows may have widened columns
		return nil, err
	}
	if err := l.moveRows(ctx, l.rowOrder); err != nil {
		return nil, err
	}
	if l.rowOrder.Added > 0 {
		l.writeInsertedKeys(l.rowOrder, offsets, step)
	}
	return offsets, nil
}

// moveRows moves the rows of every column to their places. If the number of rows stays, each column
// is permuted. Otherwise a new result is created, and the rows are copied to it.
func (l *load) moveRows(ctx context.Context, m *rows.Map) (err error) {
	if m.From == nil {
		return nil
	}
	if m.Rows == l.rows && m.Added == 0 {
		for i := range l.columns {
			if err := l.permute(ctx, l.destination(i), m.From); err != nil {
				return err
			}
			l.reportMoved(i + 1)
		}
		return nil
	}
	filled, scratch, scratchIndex := l.writer, l.scratch, l.scratchIndex
	l.writer, l.scratch = nil, nil
	defer func() { err = errors.Join(err, filled.Abort(), scratch.Close()) }()
	if err := os.Remove(filepath.Join(l.Dir, layout.DataFile)); err != nil {
		return err
	}
	l.rows = m.Rows
	l.reportMoved(0)
	l.meter.RowsTotal.Store(m.Rows)
	if err := l.createResult(); err != nil {
		return err
	}
	for i := range l.columns {
		from := filled.Column(i, layout.Random)
		if at, ok := scratchIndex[i]; ok {
			from = scratch.Column(at, layout.Random)
		}
		if err := rows.CopyRows(ctx, l.Workers, l.destination(i), 0, from, m.From); err != nil {
			return err
		}
		l.reportMoved(i + 1)
	}
	return nil
}

// reportMoved reports the number of columns whose rows are moved as progress.
func (l *load) reportMoved(columns int) {
	part := float64(columns) / float64(len(l.columns))
	if l.Sort { // sorting was half of the work
		part = (1 + part) / 2
	}
	l.meter.Rows.Store(int64(part * float64(l.rows)))
}

// permute permutes the rows of one column, by way of scratch.
func (l *load) permute(ctx context.Context, d layout.ColumnWriter, from []int64) error {
	c := d.Column
	c.Role = layout.RoleItemID // it is never packed with others
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

// checkSeries refuses two series of one name in one source of a melt of rows, which the sort would
// join. A series goes on in the next source.
func (l *load) checkSeries(ctx context.Context, k *rows.Keys) error {
	if l.recorded.Melt != option.MeltRows {
		return nil
	}
	first, sourceEnd := int64(0), int64(0)
	for _, r := range l.readers {
		sourceEnd += r.Rows()
		end := sourceEnd
		if l.selected != nil && l.selected.From != nil { // the rows of a source are in its order
			from, _ := slices.BinarySearch(l.selected.From, sourceEnd)
			end = int64(from)
		}
		if err := rows.CheckApart(ctx, k, first, end, source.HintSeriesNames); err != nil {
			return err
		}
		first = end
	}
	return nil
}

// sort sorts the rows by item and time. Its three passes are reported as half of the work.
func (l *load) sort(ctx context.Context, k *rows.Keys) error {
	var passed atomic.Int64
	return rows.Sort(ctx, l.Workers, k, l.rowOrder,
		func(rows int64) { l.meter.Rows.Store(passed.Add(rows) / 6) })
}

// tooManyDuplicates returns the error for more duplicates than the option max_duplicates allows. left
// is the note about them.
func (l *load) tooManyDuplicates(left layout.Note, most float64) error {
	e := &loaderr.SourceError{
		Reason: fmt.Sprintf("%s: more than %s allows", left.Detail,
			loaderr.Option("max_duplicates", most)),
		Hint: fmt.Sprintf("%s; else allow it with %s", left.Hint,
			loaderr.Option("max_duplicates", 1)),
	}
	if l.base != nil { // an append has the options of the generation
		e.Hint = fmt.Sprintf("append each item and time once, or %s with %s", loaderr.HintReload,
			loaderr.Option("max_duplicates", 1))
	}
	if len(l.readers) == 1 {
		e.Path = l.readers[0].Path()
	}
	return e
}

// deduplicate leaves one row of each item and time, as the option duplicates asks, and notes how many
// it leaves out. It refuses to leave out a larger share than max_duplicates.
func (l *load) deduplicate(ctx context.Context, k *rows.Keys, offsets []int64,
	duplicates int64) ([]int64, error) {
	left := note.Duplicates(l.Options, duplicates, l.rowOrder.Rows)
	if most := l.MostDuplicates(); float64(duplicates)/float64(l.rowOrder.Rows) > most {
		return nil, l.tooManyDuplicates(left, most)
	}
	l.notes = append(l.notes, left)
	if err := l.rowOrder.Materialize(); err != nil {
		return nil, err
	}
	if l.Duplicates == option.DuplicatesMean {
		err := parallel.For(ctx, l.Workers, len(l.columns), "", func(_, i int) error {
			if l.wanted.roles[i] != layout.RoleValue {
				return nil
			}
			return rows.Average(ctx, k, l.rowOrder, offsets, l.destination(i), l.columns[i],
				l.plans[i].integers)
		})
		if err != nil {
			return nil, err
		}
	}
	return rows.Deduplicate(k, l.rowOrder, offsets, l.Duplicates == option.DuplicatesLast), nil
}
