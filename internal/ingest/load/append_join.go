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

// joinBytes is how much a worker copies at once.
const joinBytes = 4 << 20

// join makes the next generation in a directory: each item's old rows and then its new ones, and new items behind them all.
func (k *base) join(ctx context.Context, l *load, delta *layout.Data, dir string) (*layout.Manifest, error) {
	old := k.Data.Manifest
	added, err := delta.ItemOffsets()
	if err != nil {
		return nil, err
	}
	final := layout.Final{
		ItemID: old.ItemID, Time: old.Time, Vocab: map[string][]string{}, Source: map[string]string{}, Prepared: map[string]*layout.Prepared{},
		Scale: map[string]*layout.Scale{}, DTypeError: map[string]*layout.DTypeError{}, Sources: slices.Concat(old.Sources, l.sources),
		Appended: append(slices.Clone(old.Appended), layout.Appended{Rows: delta.Manifest.Rows, Sources: len(l.sources)}),
	}
	var recipe bytes.Buffer
	if err := json.Compact(&recipe, old.Recipe); err != nil {
		return nil, err
	}
	final.Recipe = recipe.Bytes()
	places := k.places(added)
	table := layout.Table{Layout: old.Layout, Rows: old.Rows + delta.Manifest.Rows}
	for i, c := range old.Columns {
		table.Columns = append(table.Columns, layout.Column{Name: c.Name, Role: c.Role, DType: c.DType, Width: c.Width(), Unit: c.Unit, Zone: c.Zone})
		final.Source[c.Name] = c.SourceDType
		final.DTypeError[c.Name] = worse(c.DTypeError, delta.Manifest.Columns[i].DTypeError)
		steps := k.Join(&c, &delta.Manifest.Columns[i])
		final.Prepared[c.Name], final.Scale[c.Name] = steps.Prepared, steps.Scale
		if p := final.Prepared[c.Name]; p != nil {
			if p.Before, err = k.beforeFill(&c, delta, places.parts); err != nil {
				return nil, err
			}
		}
		if c.DType == layout.Text {
			if final.Vocab[c.Name], err = vocab(delta, c.Name); err != nil {
				return nil, err
			}
		}
	}
	final.Items = layout.Items{Offsets: places.offsets}
	if final.Items.Values, err = k.names(delta, places.fresh); err != nil {
		return nil, err
	}
	if err := k.checkSpace(dir, table.Rows, l.available); err != nil {
		return nil, err
	}
	l.meter.NeedBefore = delta.Manifest.Files[layout.DataFile].Bytes
	l.meter.AnnounceNeed(k.need(table.Rows))
	w, err := layout.Create(dir, table)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	if err := k.copy(ctx, l, w, delta, places.parts); err != nil {
		return nil, err
	}
	l.meter.Enter(progress.Finish)
	final.TimeStep = joinedStep(w, table, places.offsets)
	if err := fault.At("ingest.join"); err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	return w.Finish(final)
}

// joinedStep finds the step of all times.
func joinedStep(w *layout.Writer, t layout.Table, offsets []int64) *layout.TimeStep {
	for i, c := range t.Columns {
		if c.Role == layout.RoleTime {
			v := layout.Values[int64](w.Column(i, layout.Random))
			return rows.TimeStep(&rows.Keys{Time: &v}, offsets)
		}
	}
	return nil
}

// need is about how many bytes so many rows take.
func (k *base) need(rows int64) int64 {
	return int64(float64(k.Data.Manifest.Files[layout.DataFile].Bytes)/float64(k.Data.Manifest.Rows)*float64(rows)) + 1<<16
}

// checkSpace refuses a result that does not fit.
func (k *base) checkSpace(dir string, rows int64, available func(string) int64) error {
	need := k.need(rows)
	if have := available(dir); have >= 0 && need > have {
		return &loaderr.NoSpaceError{Dir: dir, Need: need, Have: have, Text: "the old rows and the new ones"}
	}
	return nil
}

// explain adds to a full disk what the rows need and what there is.
func (k *base) explain(err error, dir string, rows int64, available func(string) int64) error {
	if !files.IsFull(err) || errors.Is(err, loaderr.ErrNoSpace) {
		return err
	}
	return &loaderr.NoSpaceError{Dir: dir, Need: k.need(rows), Have: max(0, available(dir)), Text: err.Error()}
}

// copied are rows: count rows of the generation (old) or of the new ones, from from to to.
type copied struct {
	old             bool
	to, from, count int64
}

// joined says where rows come to lie.
type joined struct {
	offsets []int64
	parts   []copied
	fresh   []int64 // the new items, by their number among those of the new rows
}

// places lays the items out; added are the first rows of the new rows' items.
func (k *base) places(added []int64) joined {
	j := joined{offsets: []int64{0}}
	more := make([]int64, len(k.Offsets)-1) // 1 + the item of the new rows
	for i, code := range k.Of {
		if code < 0 {
			j.fresh = append(j.fresh, int64(i))
		} else {
			more[code] = int64(i) + 1
		}
	}
	at := int64(0)
	add := func(old bool, from, end int64) {
		if last := len(j.parts) - 1; last >= 0 && j.parts[last].old == old && j.parts[last].from+j.parts[last].count == from {
			j.parts[last].count += end - from
		} else {
			j.parts = append(j.parts, copied{old, at, from, end - from})
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
	for _, i := range j.fresh {
		add(false, added[i], added[i+1])
		j.offsets = append(j.offsets, at)
	}
	return j
}

// copy copies all parts, in pieces that the workers share.
func (k *base) copy(ctx context.Context, l *load, w *layout.Writer, delta *layout.Data, parts []copied) error {
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
	var pieces []copied
	for _, p := range parts {
		for ; p.count > 0; p.to, p.from, p.count = p.to+step, p.from+step, p.count-step {
			pieces = append(pieces, copied{p.old, p.to, p.from, min(step, p.count)})
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

// worse is the larger loss of two, of which either may be nil.
func worse(a, b *layout.DTypeError) *layout.DTypeError {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return &layout.DTypeError{Abs: max(a.Abs, b.Abs), Rel: max(a.Rel, b.Rel)}
}

// beforeFill is which cells of a column were missing before they were filled, in both and where they come to lie.
func (k *base) beforeFill(old *layout.ManifestColumn, delta *layout.Data, parts []copied) (*layout.BeforeFill, error) {
	added, err := delta.Manifest.Column(old.Name)
	if err != nil {
		return nil, err
	}
	runs := map[bool]layout.MissingRows{}
	if runs[true], err = k.Data.BeforeFill(old); err != nil {
		return nil, err
	}
	if runs[false], err = delta.BeforeFill(added); err != nil {
		return nil, err
	}
	var out layout.MissingRows
	for _, p := range parts {
		all := runs[p.old]
		first := sort.Search(len(all), func(i int) bool { return all[i].Row+all[i].Rows > p.from })
		for _, r := range all[first:] {
			from, end := max(r.Row, p.from), min(r.Row+r.Rows, p.from+p.count)
			if from >= end {
				break
			}
			r.Row, r.Rows = p.to+from-p.from, end-from
			if n := len(out); n > 0 && out[n-1].Cells == r.Cells && out[n-1].Row+out[n-1].Rows == r.Row {
				out[n-1].Rows += r.Rows
			} else {
				out = append(out, r)
			}
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	_, cells := out.Count()
	return &layout.BeforeFill{Missing: cells, Runs: out.AppendBinary(nil)}, nil
}

// names are those of the generation's items and of the new ones.
func (k *base) names(delta *layout.Data, fresh []int64) ([]layout.ItemValues, error) {
	out := make([]layout.ItemValues, len(k.Data.Manifest.Items.Values))
	for i, v := range k.Data.Manifest.Items.Values {
		out[i].Name = v.Name
		if v.DType == layout.Text {
			out[i].Texts = []string{}
		}
	}
	add := func(d *layout.Data, code int64) error {
		name, err := d.Item(code)
		if err != nil {
			return err
		}
		for i, v := range name {
			switch v := v.(type) {
			case string:
				out[i].Texts = append(out[i].Texts, v)
			case int64:
				out[i].Ints = append(out[i].Ints, v)
			default:
				return errors.New("an item is named by neither a text nor an integer")
			}
		}
		return nil
	}
	for code := range k.Data.Manifest.Items.Count {
		if err := add(k.Data, code); err != nil {
			return nil, err
		}
	}
	for _, code := range fresh {
		if err := add(delta, code); err != nil {
			return nil, err
		}
	}
	return out, nil
}
