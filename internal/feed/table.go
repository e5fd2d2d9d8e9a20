package feed

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
	"github.com/tensorcache/tensorcache/window"
)

// Windows are the windows of a generation under a spec and cuts, and what they deliver. The
// handle they were made from must be held as long as they are used.
type Windows struct {
	Index  *window.Index
	handle *store.Handle
	chosen *selection
	table  window.Table
}

// NewWindows resolves a spec and its cuts against a generation. Errors are *wire.Problem or wrap
// the errors of window.
func NewWindows(h *store.Handle, spec json.RawMessage, cuts []wire.Cut) (*Windows, error) {
	parsed, err := window.ParseSpec(spec)
	if err != nil {
		return nil, err
	}
	chosen, err := selectColumns(h, parsed)
	if err != nil {
		return nil, err
	}
	table, err := newTable(h, chosen, parsed)
	if err != nil {
		return nil, err
	}
	index, err := indexOf(h, parsed, table, cuts)
	if err != nil {
		return nil, err
	}
	if err := checkStatic(h, chosen.static, table.Offsets); err != nil {
		return nil, err
	}
	return &Windows{Index: index, handle: h, chosen: chosen, table: table}, nil
}

// Features names the features of each part.
func (w *Windows) Features() wire.Features { return w.chosen.features() }

// ItemRow is an item's first row in the dataset.
func (w *Windows) ItemRow(item int64) int64 { return w.table.Offsets[item] }

// DType is that of the context.
func (w *Windows) DType() string { return string(w.chosen.dtype["context"]) }

// newTable gathers what of the generation decides which windows exist; steps in time only where
// they are asked for.
func newTable(h *store.Handle, s *selection, spec window.Spec) (window.Table, error) {
	offsets, err := Offsets(h)
	if err != nil {
		return window.Table{}, err
	}
	names, err := ItemNames(h)
	if err != nil {
		return window.Table{}, err
	}
	t := window.Table{Offsets: offsets, ItemHash: names.Hash,
		ItemName: func(item int64) string { return itemName(h.Data, item) }}
	m := h.Data.Manifest
	if m.Time != "" {
		c, err := m.Column(m.Time)
		if err != nil {
			return t, err
		}
		times, err := layout.View[int64](h.Data, c)
		if err != nil {
			return t, err
		}
		t.Times, t.Unit = times.Data, c.Unit
		if t.Times == nil {
			t.Times = []int64{} // a time column without rows
		}
		if spec.MaxStep != nil {
			if t.LargestSteps, err = largestSteps(h, &t); err != nil {
				return t, err
			}
		}
	}
	for i := range m.Columns {
		c := &m.Columns[i]
		context, target := slices.Contains(s.context, c), slices.Contains(s.target, c)
		if !context && !target {
			continue
		}
		missing, err := missingRows(h, c)
		if err == nil && spec.CountFilled {
			missing, err = withFilled(h, c, missing)
		}
		if err != nil {
			return t, err
		}
		t.Columns = append(t.Columns, window.Column{Context: context, Target: target,
			Cells: max(c.Width(), 1), Missing: missing})
	}
	return t, nil
}

// ItemNames are the names of a generation's items, checked once.
func ItemNames(h *store.Handle) (*layout.ItemNames, error) {
	names, err := h.Derived("item names", func() (any, error) { return h.Data.ItemNames() })
	if err != nil {
		return nil, err
	}
	return names.(*layout.ItemNames), nil
}

// itemName is what a message calls an item: by its value, and the one series without a name by what
// it is.
func itemName(d *layout.Data, item int64) string {
	value, err := ItemValue(d, item)
	switch {
	case err != nil:
		return fmt.Sprintf("item number %d", item)
	case value == nil:
		return "the series"
	}
	return fmt.Sprintf("item %v", value)
}

// ItemValue is an item's name as JSON shows it: null without item_id, one value, or a list with
// several id columns.
func ItemValue(d *layout.Data, code int64) (any, error) {
	values, err := d.Item(code)
	if err != nil {
		return nil, err
	}
	switch len(values) {
	case 0:
		return nil, nil
	case 1:
		return values[0], nil
	}
	return values, nil
}

// Offsets are the first rows of a generation's items and, at the end, the number of rows.
func Offsets(h *store.Handle) ([]int64, error) {
	offsets, err := h.Derived("offsets", func() (any, error) { return h.Data.ItemOffsets() })
	if err != nil {
		return nil, err
	}
	return offsets.([]int64), nil
}
