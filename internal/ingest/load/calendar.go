package load

import (
	"context"
	"fmt"

	"github.com/tensorcache/tensorcache/internal/calendar"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/rows"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/internal/timezone"
	"github.com/tensorcache/tensorcache/layout"
)

// fillCalendar computes the calendar columns, which follow those of the sources.
func (l *load) fillCalendar(ctx context.Context, k *rows.Keys) error {
	columns, err := l.CalendarColumns()
	if err != nil || len(columns) == 0 {
		return err
	}
	zone, ok := timezone.Find(k.Clock.Zone)
	if !ok {
		return &loaderr.SourceError{
			Path: l.readers[0].Path(), Column: k.Clock.Name,
			Reason: fmt.Sprintf("its time zone %q is not known, which calendar needs",
				k.Clock.Zone),
		}
	}
	to := make([]layout.Strided[float32], len(columns))
	for i := range columns {
		to[i] = layout.Values[float32](l.writer.Column(len(l.columns)+i, layout.Random))
	}
	const block = 1 << 17
	return parallel.For(ctx, l.Workers, int((k.Time.Rows+block-1)/block), "", func(_, task int) error {
		values := calendar.NewValues(columns, textvalue.PerSecond(k.Clock.Unit), zone)
		out := make([]float32, len(columns))
		for row := int64(task) * block; row < min(k.Time.Rows, int64(task+1)*block); row++ {
			values.Of(k.TimeOf(row), out)
			for i, v := range out {
				to[i].Data[row*to[i].Step] = v
			}
		}
		return nil
	})
}
