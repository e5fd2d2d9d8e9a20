package load

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/rows"
	"github.com/tensorcache/tensorcache/internal/ingest/step"
	"github.com/tensorcache/tensorcache/layout"
)

// matchItems finds the generation's items among those of the new rows, and refuses new rows that
// are not after the last row of their item. With regrid, they must be one step after it.
func (l *load) matchItems(keys *rows.Keys, m *rows.Map, offsets []int64, step int64) error {
	k := l.base
	if k == nil {
		return nil
	}
	var times layout.Strided[int64]
	if l.Time != "" {
		c, err := k.Data.Manifest.Column(l.Time)
		if err != nil {
			return err
		}
		if times, err = layout.View[int64](k.Data, c); err != nil {
			return err
		}
	}
	k.Of = make([]int64, len(offsets)-1)
	for i, first := range offsets[:len(offsets)-1] {
		row := m.At(first)
		code, ok := k.items[string(keys.AppendItemName(nil, row))]
		if !ok && len(keys.Columns) > 0 {
			k.Of[i] = -1
			continue
		}
		k.Of[i] = code
		end := k.Offsets[code+1]
		if l.Time == "" || end == k.Offsets[code] {
			continue
		}
		last := times.Data[(end-1)*times.Step]
		if now := keys.TimeOf(row); now <= last || step > 0 &&
			rows.Since(last, now) != uint64(step) {
			return l.refuseTime(keys, row, last, now > last)
		}
	}
	return nil
}

// refuseTime refuses a row that does not continue its item. last is the item's last time in the
// generation.
func (l *load) refuseTime(keys *rows.Keys, row, last int64, later bool) error {
	e, of := l.locateSource(row), keys.OfItem(row)
	e.Column = l.Time
	now, before := keys.Clock.TimeText(keys.TimeOf(row)), keys.Clock.TimeText(last)
	e.Reason = fmt.Sprintf("time %s%s is not after %s, the last one in the dataset",
		now, of, before)
	e.Hint = "append newer rows only, or " + loaderr.HintReload
	if later {
		e.Reason = fmt.Sprintf(
			"time %s%s is not one step of %s after %s, the last one in the dataset",
			now, of, l.regridText(), before)
		e.Hint = "append the rows between, too, or " + loaderr.HintReload
	}
	return &e
}

// checkAppendSteps refuses to append to a column whose steps cannot continue there.
func (l *load) checkAppendSteps() error {
	if l.base == nil {
		return nil
	}
	for i, c := range l.columns {
		if len(l.plans[i].steps) == 0 {
			continue
		}
		old, err := l.base.Data.Manifest.Column(c.Name)
		if err != nil {
			return err
		}
		if err := step.CheckAppend(l.plans[i].steps, old); err != nil {
			return err
		}
	}
	return nil
}
