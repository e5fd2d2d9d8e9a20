package load

import (
	"context"
	"errors"
	"fmt"

	"github.com/tensorcache/tensorcache/internal/fault"
	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
	"github.com/tensorcache/tensorcache/layout"
)

// readAllRows creates the result and reads the rows into it. If a cell of a text file does not fit
// the type that earlier cells have, it begins again with wider columns.
func (l *load) readAllRows(ctx context.Context) error {
	for {
		if err := l.newDictionaries(); err != nil {
			return err
		}
		read := l.readRows
		if l.Filters() {
			read = l.readFiltered
		}
		var wider *source.WidenError
		err := read(ctx)
		if !errors.As(err, &wider) {
			return err
		}
		if err := l.widen(wider); err != nil {
			return err
		}
		if err := l.clear(); err != nil {
			return err
		}
	}
}

// createResult creates the generation's data file, and scratch.
func (l *load) createResult() error {
	t, scratch := l.tables()
	err := l.checkSpace()
	if err != nil {
		return err
	}
	if l.writer, err = layout.Create(l.Dir, t); err != nil {
		return err
	}
	if len(scratch.Columns) > 0 {
		l.scratch, err = column.NewScratch(l.Dir, scratch)
	}
	return err
}

// startReading enters the phase in which the sources are read.
func (l *load) startReading() error {
	if err := fault.At("ingest.fill"); err != nil {
		return fmt.Errorf("read rows: %w", err)
	}
	l.newLosses()
	l.meter.Enter(progress.Read)
	return nil
}

// newLosses prepares to measure the columns that are stored as another dtype.
func (l *load) newLosses() {
	l.losses = map[int]*column.Loss{}
	for i := range l.columns {
		if _, widened := l.kinds[i]; widened || l.plans[i].changesDType {
			l.losses[i] = &column.Loss{}
		}
	}
}

// readRows reads all rows, one source after the other.
func (l *load) readRows(ctx context.Context) error {
	if err := l.createResult(); err != nil {
		return err
	}
	if err := l.startReading(); err != nil {
		return err
	}
	l.newTileMoments()
	var row0 int64
	var wider *source.WidenError
	for _, r := range l.readers {
		err := l.read(ctx, r, row0, l.readerDestination)
		if again := (*source.WidenError)(nil); errors.As(err, &again) {
			wider = wider.Merge(again)
		} else if err != nil {
			return err
		}
		row0 += r.Rows()
	}
	if wider != nil {
		return wider
	}
	return nil
}

// read lets a reader write its columns, from row row0 of the destinations on.
func (l *load) read(
	ctx context.Context, r source.Reader, row0 int64, dest func(i int) layout.ColumnWriter,
) error {
	w, err := l.wanted.in(r.Path(), l.readers[0].Path(), r.Names())
	if err != nil {
		return err
	}
	to := make([]source.Target, len(l.columns))
	for i, c := range l.columns {
		if unit, ok := l.units[i]; ok {
			c.Unit = unit
		}
		if kind, ok := l.kinds[i]; ok {
			c.Kind = kind
		}
		to[i] = source.Target{
			Want: w[i], Column: c, Row0: row0, Words: l.dicts[i],
			Dest: column.Sink{
				ColumnWriter: dest(i), Loss: l.losses[i], MayBeRounded: c.MayBeRounded(),
			},
		}
		if c.Kind == column.KindBool {
			to[i].Capitals = &l.capitals[i]
		}
		if m := l.tileMoments[i]; m != nil {
			to[i].Observer = m
		}
	}
	l.meter.SetSource(r.Path())
	defer l.meter.SetSource("")
	if err := fault.At("ingest.read"); err != nil {
		return fmt.Errorf("read %s: %w", r.Path(), err)
	}
	return withPath(r.Path(), parallel.Guard(r.Path(), func() error {
		err := r.ReadRows(ctx, to, l.meter)
		for i := range l.columns {
			if unit, ok := l.units[i]; ok && err == nil {
				err = rescale(r, l.columns[i], dest(i), row0, unit, l.columns[i].Unit)
			}
		}
		return err
	}))
}
