package load

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/tensorcache/tensorcache/internal/fault"
	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/internal/ingest/rows"
	"github.com/tensorcache/tensorcache/layout"
)

// joinBytes is the number of bytes that a worker copies at once.
const joinBytes = 4 << 20

// join writes the next generation to a directory: for each item the rows of the generation and then
// its new rows, and after all of them the new items. delta has the new rows.
func (k *base) join(ctx context.Context, l *load, delta *layout.Data,
	dir string) (*layout.Manifest, error) {
	old := k.Data.Manifest
	added, err := delta.ItemOffsets()
	if err != nil {
		return nil, err
	}
	final := layout.Final{
		ItemID: old.ItemID, Time: old.Time, Vocab: map[string][]string{},
		Source: map[string]string{}, Calendar: map[string]string{},
		Prepared: map[string]*layout.Prepared{}, Scale: map[string]*layout.Scale{},
		DTypeError: map[string]*layout.DTypeError{},
		Dialect:    l.dialect(),
		Sources:    slices.Concat(old.Sources, l.Staged.Sources(l.sources)),
		Appended: append(slices.Clone(old.Appended),
			layout.Appended{Rows: delta.Manifest.Rows, Sources: len(l.sources)}),
	}
	var recipe bytes.Buffer
	if err := json.Compact(&recipe, old.Recipe); err != nil {
		return nil, err
	}
	final.Recipe = recipe.Bytes()
	plan := k.planJoin(added)
	table := layout.Table{Layout: old.Layout, Rows: old.Rows + delta.Manifest.Rows}
	for i, c := range old.Columns {
		table.Columns = append(table.Columns, layout.Column{
			Name: c.Name, Role: c.Role, DType: c.DType, Width: c.Width(), Unit: c.Unit,
			Zone: c.Zone, NamedOnly: c.NamedOnly,
			PartOfFilled: cmp.Or(c.PartOfFilled, delta.Manifest.Columns[i].PartOfFilled),
		})
		final.Source[c.Name], final.Calendar[c.Name] = c.SourceDType, c.Calendar
		final.DTypeError[c.Name] = largerError(c.DTypeError, delta.Manifest.Columns[i].DTypeError)
		steps := k.Join(&c, &delta.Manifest.Columns[i])
		final.Prepared[c.Name], final.Scale[c.Name] = steps.Prepared, steps.Scale
		if p := final.Prepared[c.Name]; p != nil {
			if p.Before, err = k.beforeFill(ctx, &c, delta, plan.ranges); err != nil {
				return nil, err
			}
		}
		if c.DType == layout.Text {
			if final.Vocab[c.Name], err = vocab(delta, c.Name); err != nil {
				return nil, err
			}
		}
	}
	final.Items = layout.Items{Offsets: plan.offsets}
	if final.Items.Values, err = k.itemNames(delta, plan.newItems); err != nil {
		return nil, err
	}
	if err := k.checkSpace(dir, table.Rows, l.freeSpace); err != nil {
		return nil, err
	}
	l.meter.BaseBytes = delta.Manifest.Files[layout.DataFile].Bytes
	l.meter.AnnounceSpace(k.need(table.Rows))
	w, err := layout.Create(dir, table)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	if err := k.copy(ctx, l, w, delta, plan.ranges); err != nil {
		return nil, err
	}
	l.meter.Enter(progress.Finish)
	final.TimeStep = joinedStep(w, table, plan.offsets)
	if final.Notes, err = l.noteTable(w, final.Vocab).Notes(ctx, l.Workers); err != nil {
		return nil, err
	}
	final.Notes = slices.Concat(l.notes, final.Notes)
	if err := fault.At("ingest.join"); err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	return w.Finish(final)
}

// joinedStep returns the time step of all rows, nil without a time column.
func joinedStep(w *layout.Writer, t layout.Table, offsets []int64) *layout.TimeStep {
	for i, c := range t.Columns {
		if c.Role == layout.RoleTime {
			v := layout.Values[int64](w.Column(i, layout.Random))
			return rows.TimeStep(&rows.Keys{Time: &v}, offsets)
		}
	}
	return nil
}

// need returns about the number of bytes of that many rows.
func (k *base) need(rows int64) int64 {
	m := k.Data.Manifest
	return int64(float64(m.Files[layout.DataFile].Bytes)/float64(m.Rows)*float64(rows)) + 1<<16
}

// checkSpace refuses a join for which the directory has no space.
func (k *base) checkSpace(dir string, rows int64, available func(string) int64) error {
	need := k.need(rows)
	if have := available(dir); have >= 0 && need > have {
		return &loaderr.NoSpaceError{Dir: dir, Need: need, Have: have,
			Text: "the old rows and the new ones"}
	}
	return nil
}

// explainFull adds to an error of a full disk the space that the rows need, and the free space.
func (k *base) explainFull(err error, dir string, rows int64, available func(string) int64) error {
	if !files.IsFull(err) || errors.Is(err, loaderr.ErrNoSpace) {
		return err
	}
	return &loaderr.NoSpaceError{Dir: dir, Need: k.need(rows), Have: max(0, available(dir)),
		Text: err.Error()}
}

// rowRange are count rows that a join copies, of the generation (old) or of the new rows.
type rowRange struct {
	old             bool
	to, from, count int64
}

// joinPlan is the order of the rows of a join.
type joinPlan struct {
	offsets  []int64
	ranges   []rowRange
	newItems []int64 // by their number among the items of the new rows
}

// planJoin returns the order of the rows. added are the first row of each item of the new rows, and
// their number.
func (k *base) planJoin(added []int64) joinPlan {
	j := joinPlan{offsets: []int64{0}}
	more := make([]int64, len(k.Offsets)-1) // 1 + the item of the new rows, 0 without
	for i, code := range k.Of {
		if code < 0 {
			j.newItems = append(j.newItems, int64(i))
		} else {
			more[code] = int64(i) + 1
		}
	}
	at := int64(0)
	add := func(old bool, from, end int64) {
		n := len(j.ranges)
		if n > 0 && j.ranges[n-1].old == old && j.ranges[n-1].from+j.ranges[n-1].count == from {
			j.ranges[n-1].count += end - from
		} else {
			j.ranges = append(j.ranges, rowRange{old, at, from, end - from})
		}
		at += end - from
	}
	for code := range more {
		add(true, k.Offsets[code], k.Offsets[code+1])
		if i := more[code] - 1; i >= 0 {
			add(false, added[i], added[i+1])
		}
		j.offsets = append(j.offsets, at)
	}
	for _, i := range j.newItems {
		add(false, added[i], added[i+1])
		j.offsets = append(j.offsets, at)
	}
	return j
}

// copy copies all ranges, in pieces that are distributed over the workers.
func (k *base) copy(ctx context.Context, l *load, w *layout.Writer, delta *layout.Data,
	ranges []rowRange) error {
	from := map[bool]*layout.Copier{}
	for old, d := range map[bool]*layout.Data{true: k.Data, false: delta} {
		c, err := w.Copier(d)
		if err != nil {
			return err
		}
		from[old] = c
	}
	m := k.Data.Manifest
	step := max(1, joinBytes/max(1, m.Files[layout.DataFile].Bytes/m.Rows))
	var pieces []rowRange
	for _, p := range ranges {
		for ; p.count > 0; p.to, p.from, p.count = p.to+step, p.from+step, p.count-step {
			pieces = append(pieces, rowRange{p.old, p.to, p.from, min(step, p.count)})
		}
	}
	l.meter.Enter(progress.Copy)
	l.meter.RowsTotal.Store(m.Rows + delta.Manifest.Rows)
	return parallel.For(ctx, l.Workers, len(pieces), "", func(_, i int) error {
		p := pieces[i]
		l.meter.Rows.Add(p.count)
		return from[p.old].Copy(p.to, p.from, p.count)
	})
}

// largerError returns the larger of two errors. Either may be nil.
func largerError(a, b *layout.DTypeError) *layout.DTypeError {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return &layout.DTypeError{Abs: max(a.Abs, b.Abs), Rel: max(a.Rel, b.Rel)}
}

// beforeFill returns the lists of what was missing in a column before the fill, in the order of the
// joined rows; nil if nothing was.
func (k *base) beforeFill(
	ctx context.Context, old *layout.ManifestColumn, delta *layout.Data, ranges []rowRange,
) (*layout.BeforeFill, error) {
	added, err := delta.Manifest.Column(old.Name)
	if err != nil {
		return nil, err
	}
	was, err := k.Data.BeforeFill(old)
	if err != nil {
		return nil, err
	}
	now, err := delta.BeforeFill(added)
	if err != nil {
		return nil, err
	}
	runs := joinRuns(was, now, ranges)
	if len(runs) == 0 {
		return nil, nil
	}
	_, missing := runs.Count()
	before := &layout.BeforeFill{Missing: missing}
	before.Runs = runs.AppendBinary(nil)
	isPartial := func(r layout.MissingRun) bool { return r.Cells != max(old.Width(), 1) }
	if slices.ContainsFunc(runs, isPartial) {
		before.Cells, err = k.filledCells(ctx, old, delta, added, ranges)
	}
	return before, err
}

// filledCells returns the lists of the cells of a column that were missing before the fill, in the order
// of the joined rows; nil if the generation does not store them.
func (k *base) filledCells(ctx context.Context, old *layout.ManifestColumn, delta *layout.Data,
	added *layout.ManifestColumn, ranges []rowRange) (*layout.ListFile, error) {
	was, err := k.Data.FilledCells(old)
	if errors.Is(err, layout.ErrNotStored) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	now, err := delta.FilledCells(added)
	if err != nil {
		return nil, err
	}
	var cells layout.ListFile
	for feature := range old.Width() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var runs [2]layout.MissingRows
		for i, list := range [][]layout.MissingRows{was, now} {
			if list != nil {
				runs[i] = list[feature]
			}
		}
		joined := joinRuns(runs[0], runs[1], ranges)
		cells.Runs = layout.AppendFeature(cells.Runs, joined.AppendBinary(nil))
	}
	return &cells, nil
}

// joinRuns merges the runs of a generation and those of the new rows, in the order of the joined rows.
func joinRuns(old, added layout.MissingRows, ranges []rowRange) (out layout.MissingRows) {
	if len(old)+len(added) == 0 {
		return nil
	}
	for _, p := range ranges {
		all := added
		if p.old {
			all = old
		}
		first := sort.Search(len(all), func(i int) bool { return all[i].Row+all[i].Rows > p.from })
		for _, r := range all[first:] {
			from, end := max(r.Row, p.from), min(r.Row+r.Rows, p.from+p.count)
			if from >= end {
				break
			}
			r.Row, r.Rows = p.to+from-p.from, end-from
			if n := len(out); n > 0 && out[n-1].Cells == r.Cells &&
				out[n-1].Row+out[n-1].Rows == r.Row {
				out[n-1].Rows += r.Rows
			} else {
				out = append(out, r)
			}
		}
	}
	return out
}

// itemNames returns the names of the generation's items, followed by those of the new items.
func (k *base) itemNames(delta *layout.Data, newItems []int64) ([]layout.ItemValues, error) {
	out, err := itemNames(k.Data)
	if err != nil {
		return nil, err
	}
	for _, code := range newItems {
		if err := addItem(out, delta, code); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// itemNames returns the names of a generation's items.
func itemNames(d *layout.Data) ([]layout.ItemValues, error) {
	out := make([]layout.ItemValues, len(d.Manifest.Items.Values))
	for i, v := range d.Manifest.Items.Values {
		out[i].Name = v.Name
		if v.DType == layout.Text {
			out[i].Texts = []string{}
		}
	}
	for code := range d.Manifest.Items.Count {
		if err := addItem(out, d, code); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// addItem adds the name of an item to those of others.
func addItem(names []layout.ItemValues, d *layout.Data, code int64) error {
	name, err := d.Item(code)
	if err != nil {
		return err
	}
	for i, v := range name {
		switch v := v.(type) {
		case string:
			names[i].Texts = append(names[i].Texts, v)
		case int64:
			names[i].Ints = append(names[i].Ints, v)
		default:
			return errors.New("an item is named by neither a text nor an integer")
		}
	}
	return nil
}
