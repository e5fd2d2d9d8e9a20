package load

import (
	"context"
	"errors"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/rows"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// filteredSource is one source and the rows of it that the filters select.
type filteredSource struct {
	*column.Scratch // the columns of l.columns
	source.Selection
	rows *rows.Map // the selected rows among those that were read
	// compacted is true if scratch has only the selected rows. Otherwise it has all rows that were
	// read.
	compacted bool
}

// close removes scratch.
func (p *filteredSource) close() error { return errors.Join(p.Scratch.Close(), p.rows.Close()) }

// readFiltered reads one source after the other into scratch and compacts it to the rows that the
// filters select, so that scratch has all rows of one source at most. Then it creates the result
// and copies the rows to it.
func (l *load) readFiltered(ctx context.Context) (err error) {
	if err := l.startReading(); err != nil {
		return err
	}
	var parts []*filteredSource
	defer func() {
		for _, p := range parts {
			err = errors.Join(err, p.close())
		}
	}()
	var f *rows.Filter
	var wider *source.WidenError
	var rowCount, all, read int64
	sources := make([]source.Selection, len(l.readers))
	for i, r := range l.readers {
		sources[i] = l.prune(r)
		all += r.Rows()
		read += sources[i].Rows
	}
	if read == 0 && len(l.Origins) > 0 {
		return l.noRowGroup()
	}
	// the other row groups of remote files are not there
	pruned := read < all && len(l.Origins) == 0
	l.meter.RowsTotal.Store(read)
	for i, from := range sources {
		p, err := l.readSource(ctx, from)
		if again := (*source.WidenError)(nil); errors.As(err, &again) {
			wider = wider.Merge(again)
			continue
		} else if err != nil {
			return err
		}
		parts = append(parts, p)
		if wider != nil { // all sources are read again with wider columns
			continue
		}
		if f == nil {
			if f, err = rows.NewFilter(l.Options,
				l.keys(l.words(), randomColumns(p.Writer))); err != nil {
				return err
			}
		}
		if err := l.selectRows(ctx, f, p, i < len(l.readers)-1); err != nil {
			return err
		}
		rowCount += p.rows.Rows
	}
	if wider != nil {
		return wider
	}
	var missed error
	if l.base == nil { // in an append, an item may have no new rows
		missed = f.CheckAllFound(l.Items)
	}
	if pruned && (missed != nil || rowCount == 0) { // read all rows, for the message
		for _, p := range parts {
			err = errors.Join(err, p.close())
		}
		if parts = nil; err != nil {
			return err
		}
		l.readAll = true
		return l.readFiltered(ctx)
	}
	if missed != nil {
		return missed
	}
	if rowCount == 0 {
		return f.NoRowError(l.readers[0].Path(), l.ItemBucket)
	}
	l.rows = rowCount
	l.meter.Enter(progress.Filter)
	l.meter.RowsTotal.Store(rowCount)
	if err := l.createResult(); err != nil {
		return err
	}
	return l.copySelected(ctx, parts)
}

// readSource reads the row groups of a source that pruning left into scratch.
func (l *load) readSource(ctx context.Context, r source.Selection) (*filteredSource, error) {
	l.rows = r.Rows
	s, err := l.newScratch()
	if err != nil {
		return nil, err
	}
	if r.Rows > 0 {
		if err := l.read(ctx, r.Reader, 0, randomColumns(s.Writer)); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return &filteredSource{Scratch: s, Selection: r, rows: &rows.Map{Dir: l.Dir, Rows: r.Rows}}, nil
}

// newScratch returns scratch for l.rows rows of all columns, as they are read.
func (l *load) newScratch() (*column.Scratch, error) {
	t, scratch := l.tables()
	t.Layout, t.Columns = layout.Columns, t.Columns[:len(l.columns)]
	for i, at := range l.scratchIndex {
		t.Columns[i] = scratch.Columns[at]
	}
	return column.NewScratch(l.Dir, t)
}

// selectRows finds the rows of a source that the filter selects. If compact is set, it copies them
// to new scratch, which frees the space of the others.
func (l *load) selectRows(ctx context.Context, f *rows.Filter, p *filteredSource,
	compact bool) error {
	all := p.rows.Rows
	n, err := f.Count(ctx, l.keys(l.words(), randomColumns(p.Writer)), all)
	if err != nil || n == all {
		return err
	}
	err = p.rows.Replace(n, func(from []int64) error {
		at := 0
		for row := range all {
			if f.Matches(row) {
				from[at] = row
				at++
			}
		}
		return ctx.Err()
	})
	if err != nil || !compact {
		return err
	}
	l.rows = n
	s, err := l.newScratch()
	if err != nil {
		return err
	}
	for i := range l.columns {
		to, from := s.Column(i, layout.Random), p.Column(i, layout.Random)
		if err := rows.CopyRows(ctx, l.Workers, to, 0, from, p.rows.From); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	err = p.Scratch.Close()
	p.Scratch, p.compacted = s, true
	return err
}

// copySelected copies the selected rows of all sources to the result, and stores their rows in the
// sources.
func (l *load) copySelected(ctx context.Context, parts []*filteredSource) error {
	l.selected = &rows.Map{Dir: l.Dir}
	err := l.selected.Replace(l.rows, func(from []int64) error {
		var at, row0 int64
		for i, p := range parts {
			for row := range p.rows.Rows {
				from[at] = row0 + p.SourceRow(p.rows.At(row))
				at++
			}
			row0 += l.readers[i].Rows()
		}
		return nil
	})
	if err != nil {
		return err
	}
	var at int64
	for _, p := range parts {
		from := p.rows.From
		if p.compacted {
			from = nil
		}
		for i := range l.columns {
			to, all := l.destination(i), p.Column(i, layout.Random)
			if err := rows.CopyRows(ctx, l.Workers, to, at, all, from); err != nil {
				return err
			}
			l.meter.Rows.Store(at + p.rows.Rows*int64(i+1)/int64(len(l.columns)))
		}
		at += p.rows.Rows
	}
	return nil
}
