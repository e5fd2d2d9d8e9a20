package ingest

import (
	"context"
	"errors"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// keptRows are the rows of one source that the filters let through.
type keptRows struct {
	*column.Scratch // the columns of l.columns
	source.Selection
	rows   *rowMap // of what was read of the source; in the scratch they lie where this says, or one after the other where packed is set
	packed bool
}

func (p *keptRows) close() error { return errors.Join(p.Scratch.Close(), p.rows.close()) }

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
	var f *filter
	var wider *source.WidenError
	var rows, all, read int64
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
			if f, err = newFilter(l.Options, l.keys(l.words(), randomColumns(p.Writer))); err != nil {
				return err
			}
		}
		if err := l.thin(ctx, f, p, i < len(l.readers)-1); err != nil {
			return err
		}
		rows += p.rows.rows
	}
	if wider != nil {
		return wider
	}
	var missed error
	if l.base == nil { // of an append, not every item has new rows
		missed = f.foundAll(l.Items)
	}
	if skipped && (missed != nil || rows == 0) { // read it all, for the message
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
	if rows == 0 {
		return f.nothingLeft(l.readers[0].Path(), l.ItemBucket)
	}
	l.rows = rows
	l.meter.Enter(progress.Filter)
	l.meter.RowsTotal.Store(rows)
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
	return &keptRows{Scratch: s, Selection: r, rows: &rowMap{dir: l.Dir, rows: r.Rows}}, nil
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
func (l *load) thin(ctx context.Context, f *filter, p *keptRows, shrink bool) error {
	all := p.rows.rows
	n, err := f.count(ctx, l.keys(l.words(), randomColumns(p.Writer)), all)
	if err != nil || n == all {
		return err
	}
	err = p.rows.replace(n, func(from []int64) error {
		at := 0
		for row := range all {
			if f.keeps(row) {
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
		if err := carry(ctx, l.Workers, s.Column(i, layout.Random), 0, p.Column(i, layout.Random), p.rows.from); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	err = p.Scratch.Close()
	p.Scratch, p.packed = s, true
	return err
}

// gatherKept moves what is kept of all sources into the result, and notes where it comes from.
func (l *load) gatherKept(ctx context.Context, parts []*keptRows) error {
	l.kept = &rowMap{dir: l.Dir}
	err := l.kept.replace(l.rows, func(from []int64) error {
		var at, row0 int64
		for i, p := range parts {
			for row := range p.rows.rows {
				from[at] = row0 + p.SourceRow(p.rows.at(row))
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
		from := p.rows.from
		if p.packed {
			from = nil
		}
		for i := range l.columns {
			if err := carry(ctx, l.Workers, l.dest(i), at, p.Column(i, layout.Random), from); err != nil {
				return err
			}
			l.meter.Rows.Store(at + p.rows.rows*int64(i+1)/int64(len(l.columns)))
		}
		at += p.rows.rows
	}
	return nil
}
