package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/tensorcache/tensorcache/internal/fault"
	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/rows"
	"github.com/tensorcache/tensorcache/internal/ingest/step"
	"github.com/tensorcache/tensorcache/layout"
)

// Scaled is the generation of which a scaled copy is made, and how.
type Scaled struct {
	// Dir is the generation's directory. It must exist until the load ends.
	Dir string `json:"dir"`
	// Of is recorded in the manifest, with the rows of Fit.
	Of layout.ScaledOf `json:"of"`
	// Fit are the rows that the scaling is fitted to: for each item the first one and the one after
	// the last, counted from the item's first row.
	Fit [][2]int64 `json:"fit"`
}

// scaledCopy makes a scaled copy of a generation.
type scaledCopy struct {
	Scaled
	from    *layout.Data
	offsets []int64 // of the items
	table   layout.Table
	writer  *layout.Writer
	meter   *progress.Meter
	workers int

	mu     sync.Mutex
	scales map[string]*layout.Scale // by column; guarded by mu
}

// scaled makes a scaled copy of a generation in an empty directory.
func (r Request) scaled(ctx context.Context, m *progress.Meter) (manifest *layout.Manifest, err error) {
	from, err := layout.Open(r.Scaled.Dir)
	if err != nil {
		return nil, lostIfTorn(err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	c := &scaledCopy{Scaled: *r.Scaled, from: from, meter: m, workers: max(2, cores),
		scales: map[string]*layout.Scale{}}
	if c.offsets, err = from.ItemOffsets(); err != nil {
		return nil, err
	}
	if len(c.Fit) != len(c.offsets)-1 {
		return nil, fmt.Errorf("fit rows of %d items, want %d", len(c.Fit), len(c.offsets)-1)
	}
	m.SetPhases([]progress.Phase{{Name: progress.Copy, Weight: 2}, {Name: progress.Scale, Weight: 5},
		{Name: progress.Finish, Weight: 1}})
	m.RowsTotal.Store(from.Manifest.Rows)
	c.table = scaledTable(from.Manifest, c.Of.Columns)
	need, have := bytesOf(c.table), files.FreeSpace(r.Dir)
	if have >= 0 && need > have {
		return nil, &loaderr.NoSpaceError{Dir: r.Dir, Need: need, Have: have, Text: "the scaled copy"}
	}
	m.AnnounceSpace(need)
	m.BytesTotal.Store(need)
	if c.writer, err = layout.Create(r.Dir, c.table); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.writer.Abort()) }()
	if manifest, err = c.run(ctx); files.IsFull(err) {
		err = &loaderr.NoSpaceError{Dir: r.Dir, Need: need, Have: max(0, files.FreeSpace(r.Dir)),
			Text: err.Error()}
	}
	return manifest, err
}

// scaledTable returns the table of a scaled copy. A scaled column has the dtype that the load option
// scale gives it.
func scaledTable(m *layout.Manifest, columns []string) layout.Table {
	table := layout.Table{Layout: m.Layout, Rows: m.Rows}
	for _, of := range m.Columns {
		to := layout.Column{Name: of.Name, Role: of.Role, DType: of.DType, Width: of.Width(), Unit: of.Unit,
			Zone: of.Zone, NamedOnly: of.NamedOnly, PartOfFilled: of.PartOfFilled}
		if slices.Contains(columns, of.Name) {
			to.DType = option.Steps{option.Scale(option.ScaleStandard)}.StoredAs(of.DType, "")
		}
		table.Columns = append(table.Columns, to)
	}
	return table
}

// ScaledBytes returns about the number of bytes of a scaled copy of a generation.
func ScaledBytes(m *layout.Manifest, columns []string) int64 { return bytesOf(scaledTable(m, columns)) }

// bytesOf returns about the number of bytes of a generation.
func bytesOf(t layout.Table) int64 {
	row := int64(0)
	for _, c := range t.Columns {
		row += c.DType.Size() * max(1, c.Width)
	}
	return t.Rows*row + 1<<16
}

// run copies the columns, scales those that are to be scaled, and finishes the generation.
func (c *scaledCopy) run(ctx context.Context) (*layout.Manifest, error) {
	c.meter.Enter(progress.Copy)
	if err := c.copyColumns(ctx); err != nil {
		return nil, err
	}
	words := map[string][]string{}
	for name := range c.from.Manifest.Vocab {
		var err error
		if words[name], err = vocab(c.from, name); err != nil {
			return nil, err
		}
	}
	c.meter.Enter(progress.Scale)
	if err := c.scaleColumns(ctx, words); err != nil {
		return nil, err
	}
	c.meter.Enter(progress.Finish)
	final, err := c.final(words)
	if err != nil {
		return nil, err
	}
	if err := fault.At("ingest.finish"); err != nil {
		return nil, fmt.Errorf("finish: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return c.writer.Finish(final)
}

// copyColumns copies the columns that are not scaled, and those of float16, which are scaled in place
// as float32.
func (c *scaledCopy) copyColumns(ctx context.Context) error {
	columns := c.from.Manifest.Columns
	return parallel.For(ctx, c.workers, len(columns), "", func(_, i int) error {
		of := &columns[i]
		if c.Of.Has(of.Name) && of.DType != layout.Float16 {
			return nil
		}
		if c.Of.Has(of.Name) {
			return copyRows(ctx, c, i, layout.Random, layout.Half.Float32)
		}
		switch of.DType.Size() {
		case 1:
			return copyRows(ctx, c, i, layout.WriteOnce, same[uint8])
		case 2:
			return copyRows(ctx, c, i, layout.WriteOnce, same[uint16])
		case 4:
			return copyRows(ctx, c, i, layout.WriteOnce, same[uint32])
		}
		return copyRows(ctx, c, i, layout.WriteOnce, same[uint64])
	})
}

func same[T any](v T) T { return v }

// copyRows copies a column, and converts each value.
func copyRows[S, D layout.Native](ctx context.Context, c *scaledCopy, i int, mode layout.Mode,
	convert func(S) D) error {
	from, err := layout.View[S](c.from, &c.from.Manifest.Columns[i])
	if err != nil {
		return err
	}
	to := c.writer.Column(i, mode)
	step := max(1, joinBytes/(from.Width*to.DType.Size()))
	buffer := make([]D, 0, min(step, from.Rows)*from.Width)
	for row := int64(0); row < from.Rows; row += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		buffer = buffer[:0]
		for at := row; at < min(row+step, from.Rows); at++ {
			for _, v := range from.Row(at) {
				buffer = append(buffer, convert(v))
			}
		}
		layout.WriteAt(to, row, buffer)
	}
	return nil
}

// scaleColumns scales columns, several at once. words are those of text columns.
func (c *scaledCopy) scaleColumns(ctx context.Context, words map[string][]string) error {
	m := c.from.Manifest
	columns, roles := make([]column.Column, len(m.Columns)), make([]layout.Role, len(m.Columns))
	var todo []int
	for i, of := range m.Columns {
		kind, _ := column.KindOf(string(of.DType)) // a generation has no other dtypes
		columns[i] = column.Column{Name: of.Name, Kind: kind, Unit: of.Unit, Zone: of.Zone, Width: of.Width()}
		if roles[i] = of.Role; c.Of.Has(of.Name) {
			todo = append(todo, i)
		}
	}
	in := step.Input{Steps: option.Steps{option.Scale(c.Of.Scale)}, Per: c.Of.ScalePer, Offsets: c.offsets, Fit: c.fitRows(),
		Place: func(row int64) loaderr.SourceError { return loaderr.SourceError{Row: row + 1} }}
	in.Keys = rows.NewKeys(columns, roles, words, randomColumns(c.writer), in.Place)
	return parallel.For(ctx, c.workers, len(todo), "", func(_, task int) error {
		i, in := todo[task], in
		in.Column = columns[i]
		in.Result = func(mode layout.Mode) layout.ColumnWriter { return c.writer.Column(i, mode) }
		if m.Columns[i].DType != layout.Float16 {
			var err error
			if in.Values, err = step.ValuesOf(c.from, &m.Columns[i]); err != nil {
				return err
			}
		}
		result, err := step.Run(ctx, in)
		if err != nil {
			return withFitHint(err, c.Of.ScalePer)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.scales[in.Column.Name] = result.Scale
		c.meter.Rows.Add(m.Rows / int64(len(todo)))
		return nil
	})
}

// withFitHint replaces a hint that names load options.
func withFitHint(err error, per string) error {
	e := (*loaderr.SourceError)(nil)
	if errors.As(err, &e) {
		e.Hint = "leave the column out of the columns to scale"
		if per == option.ScalePerItem {
			e.Hint += ", or fit to windows of a part with values of every item"
		}
	}
	return err
}

// fitRows returns the rows that the scaling is fitted to.
func (c *scaledCopy) fitRows() *step.FitRows {
	low, high := make([]int64, len(c.Fit)), make([]int64, len(c.Fit))
	for i, fit := range c.Fit {
		low[i], high[i] = c.offsets[i]+fit[0], c.offsets[i]+fit[1]
	}
	return step.FitRowsOf(low, high)
}

// final returns the content of the manifest: that of the generation with the scalings.
func (c *scaledCopy) final(words map[string][]string) (f layout.Final, err error) {
	m := c.from.Manifest
	f = layout.Final{
		ItemID: m.ItemID, Time: m.Time, TimeStep: m.TimeStep, Vocab: words,
		Items: layout.Items{Offsets: c.offsets}, Source: map[string]string{}, Calendar: map[string]string{},
		Prepared: map[string]*layout.Prepared{}, Scale: c.scales, StepsOf: map[string]*layout.StepsOf{},
		DTypeError: map[string]*layout.DTypeError{}, ScaledOf: &c.Of,
	}
	var recipe bytes.Buffer
	if err := json.Compact(&recipe, m.Recipe); err != nil {
		return f, err
	}
	f.Recipe = recipe.Bytes()
	if f.Items.Values, err = itemNames(c.from); err != nil {
		return f, err
	}
	for i := range m.Columns {
		of := &m.Columns[i]
		f.Source[of.Name], f.Calendar[of.Name], f.StepsOf[of.Name] = of.SourceDType, of.Calendar, of.StepsOf
		if of.Prepared != nil {
			prepared := *of.Prepared
			if prepared.Before, err = c.from.CopyBeforeFill(of); err != nil {
				return f, err
			}
			f.Prepared[of.Name] = &prepared
		}
		if !c.Of.Has(of.Name) {
			f.Scale[of.Name], f.DTypeError[of.Name] = of.Scale, of.DTypeError
		}
	}
	var fit layout.MissingRows
	for i, rows := range c.Fit {
		if rows[0] < rows[1] {
			fit = append(fit, layout.MissingRun{Row: c.offsets[i] + rows[0], Rows: rows[1] - rows[0], Cells: 1})
		}
	}
	c.Of.FitRows.Runs = fit.AppendBinary(nil)
	return f, nil
}
