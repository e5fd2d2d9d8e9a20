package load

import (
	"context"
	"sync"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/rows"
	"github.com/tensorcache/tensorcache/internal/ingest/step"
	"github.com/tensorcache/tensorcache/layout"
)

// runSteps applies the steps of all columns, several columns at once. It returns what the manifest
// records of them, by column name.
func (l *load) runSteps(
	ctx context.Context, offsets []int64, k *rows.Keys,
) (map[string]*layout.Prepared, map[string]*layout.Scale, error) {
	var todo []int
	for i, p := range l.plans {
		if len(p.steps) > 0 {
			todo = append(todo, i)
		}
	}
	if len(todo) == 0 {
		return nil, nil, nil
	}
	f, err := step.NewFitRows(l.Options, k, offsets)
	if err != nil {
		return nil, nil, err
	}
	for _, i := range todo {
		p := l.plans[i]
		if p.integers {
			if err := p.steps.CheckNumbers(l.columns[i].Name); err != nil {
				return nil, nil, err
			}
		}
		if p.asked != "" {
			l.losses[i] = &column.Loss{}
		}
	}
	prepared, scales := map[string]*layout.Prepared{}, map[string]*layout.Scale{}
	var mu sync.Mutex
	err = parallel.For(ctx, l.Workers, len(todo), "", func(_, task int) error {
		i := todo[task]
		defer l.meter.Rows.Add(l.rows / int64(len(todo)))
		result, err := step.Run(ctx, l.stepInput(i, offsets, k, f))
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if prepared[l.columns[i].Name] = result.Prepared; result.Scale != nil {
			scales[l.columns[i].Name] = result.Scale
		}
		return nil
	})
	return prepared, scales, err
}

// stepInput returns what the steps of the i-th column need.
func (l *load) stepInput(i int, offsets []int64, k *rows.Keys, f *step.FitRows) step.Input {
	in := step.Input{
		Column: l.columns[i], Steps: l.plans[i].steps, Integers: l.plans[i].integers,
		Per: step.Per(l.Options), Keys: k, Offsets: offsets, Fit: f,
		Place: l.locate, Path: l.readers[0].Path(),
		Result: func(mode layout.Mode) layout.ColumnWriter { return l.writer.Column(i, mode) },
		Tiles:  l.tileMomentsOf(i), Loss: l.losses[i],
	}
	if l.base != nil {
		in.Base = &l.base.Base
	}
	if at, ok := l.scratchIndex[i]; ok {
		scratch := l.scratch.Column(at, layout.Random)
		in.Scratch = &scratch
	}
	return in
}
