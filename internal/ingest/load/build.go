package load

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tensorcache/tensorcache/internal/fault"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/rows"
	"github.com/tensorcache/tensorcache/layout"
)

// buildGeneration makes a generation of the columns that were read. It runs all phases after
// reading: the order of rows and the items, conversions, steps, calendar columns and the manifest.
func (l *load) buildGeneration(ctx context.Context) (*layout.Manifest, error) {
	final := layout.Final{
		ItemID: l.ItemID, Time: l.Time, Vocab: map[string][]string{}, Source: map[string]string{},
		Sources: l.Staged.Sources(l.sources),
	}
	l.notes = append(l.notes, l.textNotes()...)
	final.Dialect = l.dialect()
	if err := fault.At("ingest.order"); err != nil {
		return nil, fmt.Errorf("order rows: %w", err)
	}
	offsets, err := l.orderRows(ctx)
	if err != nil {
		return nil, err
	}
	for i, d := range l.dicts {
		final.Vocab[l.columns[i].Name] = d.Finish(l.writer.Column(i, layout.Random))
	}
	keys := l.keys(final.Vocab, randomColumns(l.writer))
	final.TimeStep = rows.TimeStep(keys, offsets)
	final.Items = layout.Items{Offsets: offsets, Values: keys.ItemValues(offsets)}

	l.meter.Enter(progress.Scale)
	if err := l.convertColumns(ctx, offsets[len(offsets)-1]); err != nil {
		return nil, err
	}
	if final.Prepared, final.Scale, err = l.runSteps(ctx, offsets, keys); err != nil {
		return nil, err
	}
	final.DTypeError = l.dtypeErrors()
	if err := l.keepSteps(&final); err != nil {
		return nil, err
	}
	if final.Calendar, err = l.addCalendar(ctx, keys, offsets); err != nil {
		return nil, err
	}
	for i, c := range l.columns {
		if name := c.SourceName(); name != string(l.writer.Column(i, layout.Random).DType) {
			final.Source[c.Name] = name
		}
	}
	recorded, err := l.recorded.WithInstants(keys.Clock.Unit, keys.Clock.Zone)
	if err != nil {
		return nil, err
	}
	if final.Recipe, err = recorded.Recipe(); err != nil {
		return nil, err
	}
	if l.base == nil { // an append has another phase after this one
		l.meter.Enter(progress.Finish)
		table := l.noteTable(l.writer, final.Vocab)
		if final.Notes, err = table.Notes(ctx, l.Workers); err != nil {
			return nil, err
		}
		final.Notes = slices.Concat(l.notes, final.Notes)
	}
	if err := fault.At("ingest.finish"); err != nil {
		return nil, fmt.Errorf("finish: %w", err)
	}
	err = errors.Join(l.scratch.Close(), l.rowOrder.Close(), l.selected.Close())
	l.scratch, l.rowOrder, l.selected = nil, nil, nil
	if err != nil {
		return nil, err
	}
	// no source is read after this
	if err := l.Options.AllowedRoots.Unchanged(l.sources); err != nil {
		return nil, err
	}
	if err := l.Staged.Err(); err != nil {
		return nil, err
	}
	if l.leaveMapped {
		l.writer.LeaveMapped()
	}
	m, err := l.writer.Finish(final)
	if e := (*layout.ChangedError)(nil); errors.As(err, &e) {
		err = l.valuesChanged(e.Column)
	}
	if err != nil {
		return nil, err
	}
	l.writer = nil
	return m, ctx.Err()
}
