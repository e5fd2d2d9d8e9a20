package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorcache/tensorcache/internal/calendar"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
	"github.com/tensorcache/tensorcache/window"
)

// hasKnownAfter reports whether the known columns have values in rows after the end of an item: they
// are calendar columns, which are computed.
func (w *Windows) hasKnownAfter() bool {
	known, ok := w.Part(Known)
	isOther := func(c *layout.ManifestColumn) bool { return c.Calendar == "" }
	return ok && !slices.ContainsFunc(known.Columns, isOther)
}

// KnownAfter returns how times continue after the end of items, if windows of latest have known rows
// there, which are computed; else nil.
func (w *Windows) KnownAfter() *calendar.Ends { return w.knownAfter }

// findKnownAfter returns what [Windows.KnownAfter] does. It refuses items whose times have no regular
// step, with a *wire.Problem. It reads the times of all items that end in a window if one item of the
// generation has a jump.
func (w *Windows) findKnownAfter(h *store.Handle, x *window.Index, t *window.Table) (*calendar.Ends, error) {
	if !x.IsLatest() || !t.KnownAfter {
		return nil, nil
	}
	known, _ := w.Part(Known)
	ends := &calendar.Ends{Offsets: t.Offsets}
	for _, c := range known.Columns {
		if c.Calendar != calendar.Age {
			ends.Times = t.Times
		}
	}
	step := h.Data.Manifest.TimeStep
	regular := step != nil && step.Jumps == 0
	if regular {
		ends.Step = step.Step
	}
	reach, reached := (known.Length-1)*max(x.Spec().Dilation, 1), false
	for _, run := range x.Runs() {
		item := run.Item
		after := run.First + reach + 1 - (t.Offsets[item+1] - t.Offsets[item])
		if after <= 0 {
			continue
		}
		reached = true
		if ends.Times == nil {
			continue
		}
		if why := irregular(t, item); !regular && why != "" {
			return nil, noTimes(h, item, after, "has no regular step: "+why,
				"append rows with their times and without targets; if rows are missing, load with `regrid`")
		}
		if end := ends.Of(item); end.Step > math.MaxInt64/after || end.Last > math.MaxInt64-end.Step*after {
			return nil, noTimes(h, item, after, "ends too late for them in int64", "ask for fewer rows")
		}
	}
	if !reached {
		return nil, nil
	}
	return ends, nil
}

// irregular returns why the times of an item have no regular step, "" if they have one.
func irregular(t *window.Table, item int64) string {
	times := t.Times[t.Offsets[item]:t.Offsets[item+1]]
	if len(times) < 2 {
		return "it has one row, and other items have several steps"
	}
	step := times[1] - times[0]
	for row := 2; row < len(times); row++ {
		if is := times[row] - times[row-1]; is != step {
			return fmt.Sprintf("row %d is %s after the row before, and row 1 is %s", row,
				lengthOf(is, t.Unit), lengthOf(step, t.Unit))
		}
	}
	return ""
}

// noTimes is the error for rows after the end of an item whose times are not known.
func noTimes(h *store.Handle, item, after int64, why, hint string) error {
	return wire.NewProblem(wire.InvalidSpec,
		"known_columns: latest needs the calendar columns of %d rows after the end of %s, which %s", after,
		itemName(h.Data, item), why).WithField("known_columns").WithHint("%s", hint)
}

// lengthOf returns a step in time as messages show it.
func lengthOf(n int64, unit string) string {
	if s, ok := window.Units(n, unit); ok {
		return s.String()
	}
	return fmt.Sprint(n, " ", unit)
}
