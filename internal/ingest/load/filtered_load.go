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

// keptRows are the rows of one source that the filters let through.
type keptRows struct {
	*column.Scratch // the columns of l.columns
	source.Selection
	rows   *rows.Map // of what was read of the source; in the scratch they lie where this says, or one after the other where packed is set
	packed bool
}

func (p *keptRows) close() error { return errors.Join(p.Scratch.Close(), p.rows.Close()) }

// fillKept reads one source after the other into scratch, and keeps of each the rows that the filters let through, so that never
// more than one source lies there whole. Then it lays the result out and moves them there.
func (l *load) fillKept(ctx context.Context) (err error) {
	if err := l.startReading(); err != nil {
		return err
	}
	var parts []*keptRows
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
		sources[i] = l.choose(r)
		all += r.Rows()
		read += sources[i].Rows
	}
	skipped := read < all
	l.meter.RowsTotal.Store(read)
	for i, from := range sources {
		p, err := l.readWhole(ctx, from)
		if again := (*source.WidenError)(nil); errors.As(err, &again) {
			wider = wider.Merge(again)
			continue
		} else if err != nil {
			return err
		}
		parts = append(parts, p)
		if wider != nil { // another pass is due
			continue
		}
		if f == nil {
			if f, err = rows.NewFilter(l.Options, l.keys(l.words(), randomColumns(p.Writer))); err != nil {
				return err
			}
		}
		if err := l.thin(ctx, f, p, i < len(l.readers)-1); err != nil {
			return err
		}
		rowCount += p.rows.Rows
	}
	if wider != nil {
		return wider
	}
	var missed error
	if l.base == nil { // of an append, not every item has new rows
		missed = f.CheckAllFound(l.Items)
	}
	if skipped && (missed != nil || rowCount == 0) { // read it all, for the message
		for _, p := range parts {
			err = errors.Join(err, p.close())
		}
		if parts = nil; err != nil {
			return err
		}
		l.whole = true
		return l.fillKept(ctx)
	}
	if missed != nil {
		return missed
	}
	if rowCount == 0 {
		return f.NothingKept(l.readers[0].Path(), l.ItemBucket)
	}
	l.rows = rowCount
	l.meter.Enter(progress.Filter)
	l.meter.RowsTotal.Store(rowCount)
	if err := l.lay(); err != nil {
		return err
	}
	return l.gatherKept(ctx, parts)
}

// readWhole reads into scratch what is chosen of a source.
func (l *load) readWhole(ctx context.Context, r source.Selection) (*keptRows, error) {
	l.rows = r.Rows
	s, err := l.plain()
	if err != nil {
		return nil, err
	}
	if r.Rows > 0 {
		if err := l.read(ctx, r.Reader, 0, randomColumns(s.Writer)); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return &keptRows{Scratch: s, Selection: r, rows: &rows.Map{Dir: l.Dir, Rows: r.Rows}}, nil
}

// plain is scratch for l.rows of all columns as they are filled.
func (l *load) plain() (*column.Scratch, error) {
	t, stage := l.tables()
	t.Layout, t.Columns = layout.Columns, t.Columns[:len(l.columns)]
	for i, at := range l.staged {
		t.Columns[i] = stage.Columns[at]
	}
	return column.NewScratch(l.Dir, t)
}

// thin finds out which rows of a source are kept. With shrink the others give their space back.
func (l *load) thin(ctx context.Context, f *rows.Filter, p *keptRows, shrink bool) error {
	all := p.rows.Rows
	n, err := f.Count(ctx, l.keys(l.words(), randomColumns(p.Writer)), all)
	if err != nil || n == all {
		return err
	}
	err = p.rows.Replace(n, func(from []int64) error {
		at := 0
		for row := range all {
			if f.Keeps(row) {
				from[at] = row
				at++
			}
		}
		return ctx.Err()
	})
	if err != nil || !shrink {
		return err
	}
	l.rows = n
	s, err := l.plain()
	if err != nil {
		return err
	}
	for i := range l.columns {
		if err := rows.CopyRows(ctx, l.Workers, s.Column(i, layout.Random), 0, p.Column(i, layout.Random), p.rows.From); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	err = p.Scratch.Close()
	p.Scratch, p.packed = s, true
	return err
}

// gatherKept moves what is kept of all sources into the result, and notes where it comes from.
func (l *load) gatherKept(ctx context.Context, parts []*keptRows) error {
	l.kept = &rows.Map{Dir: l.Dir}
	err := l.kept.Replace(l.rows, func(from []int64) error {
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
		if p.packed {
			from = nil
		}
		for i := range l.columns {
			if err := rows.CopyRows(ctx, l.Workers, l.dest(i), at, p.Column(i, layout.Random), from); err != nil {
				return err
			}
			l.meter.Rows.Store(at + p.rows.Rows*int64(i+1)/int64(len(l.columns)))
		}
		at += p.rows.Rows
	}
	return nil
}
