package plan

import (
	"github.com/tensorcache/tensorcache/internal/timezone"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
	"github.com/tensorcache/tensorcache/window"
)

// newTable collects what decides which windows of a generation exist. It computes steps in time
// only if the spec has max_step.
func newTable(h *store.Handle, w *Windows, spec window.Spec) (window.Table, error) {
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
		t.Times, t.Unit, t.Zone = times.Data, c.Unit, timezone.OfColumn(c.Zone)
		if t.Times == nil {
			t.Times = []int64{} // a time column without rows
		}
		if spec.MaxStep != nil {
			if t.LargestSteps, err = largestSteps(h, &t); err != nil {
				return t, err
			}
		}
	}
	t.KnownAfter = w.hasKnownAfter()
	contextPart, _ := w.Part(Context)
	targetPart, _ := w.Part(Target)
	inContext, inTarget := setOf(contextPart.Columns), setOf(targetPart.Columns)
	for i := range m.Columns {
		c := &m.Columns[i]
		context, target := inContext[c], inTarget[c]
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
