package ingest

import (
	"fmt"
	"math"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/rows"
	"github.com/tensorcache/tensorcache/layout"
)

// meet finds the generation's items among those of the new rows, and refuses rows that do not come after them: with regrid, one step
// after them.
func (l *load) meet(keys *rows.Keys, m *rows.Map, offsets []int64, step int64) error {
	k := l.base
	if k == nil {
		return nil
	}
	var times layout.Strided[int64]
	if l.Time != "" {
		c, err := k.data.Manifest.Column(l.Time)
		if err != nil {
			return err
		}
		if times, err = layout.View[int64](k.data, c); err != nil {
			return err
		}
	}
	k.of = make([]int64, len(offsets)-1)
	for i, first := range offsets[:len(offsets)-1] {
		row := m.At(first)
		code, ok := k.items[string(keys.AppendItemName(nil, row))]
		if !ok && len(keys.Columns) > 0 {
			k.of[i] = -1
			continue
		}
		k.of[i] = code
		end := k.offsets[code+1]
		if l.Time == "" || end == k.offsets[code] {
			continue
		}
		last := times.Data[(end-1)*times.Step]
		if now := keys.TimeOf(row); now <= last || step > 0 && rows.Since(last, now) != uint64(step) {
			return l.apart(keys, row, last, now > last)
		}
	}
	return nil
}

// apart refuses a row that does not go on where its item ended in the generation.
func (l *load) apart(keys *rows.Keys, row, last int64, later bool) error {
	e, of := l.sourcePlace(row), keys.OfItem(row)
	e.Column = l.Time
	e.Reason = fmt.Sprintf("time %s%s is not after %s, the last one in the dataset", keys.Clock.TimeText(keys.TimeOf(row)), of, keys.Clock.TimeText(last))
	e.Hint = "append newer rows only, or " + loaderr.HintAnew
	if later {
		e.Reason = fmt.Sprintf("time %s%s is not one step of %s after %s, the last one in the dataset", keys.Clock.TimeText(keys.TimeOf(row)), of, l.stepText(), keys.Clock.TimeText(last))
		e.Hint = "append the rows between, too, or " + loaderr.HintAnew
	}
	return &e
}

// old is the generation's column that the rows of this one are appended to, nil where nothing is appended.
func (p *preparation) old() *layout.ManifestColumn {
	if p.base == nil {
		return nil
	}
	c, err := p.base.data.Manifest.Column(p.column.Name)
	if err != nil {
		return nil // conform has found it
	}
	return c
}

// knows tells whether an item is one of the generation's.
func (p *preparation) knows(item int) bool { return p.base != nil && p.base.of[item] >= 0 }

// keeps tells whether all that is fitted is the generation's: one fit for all items.
func (p *preparation) keeps() bool { return p.base != nil && p.ScalePer != option.ScalePerItem }

// takeOver replaces what was fitted to the new rows by what was fitted to the generation: all of it, or that of its items.
func (p *preparation) takeOver(width int) {
	old := p.old()
	if old == nil {
		return
	}
	if p.keeps() {
		if p.do.Fill.How == option.FillMean && old.Prepared != nil {
			p.means = old.Prepared.FillValue
		}
		p.scale = old.Scale
		return
	}
	for item, code := range p.base.of {
		if code < 0 {
			continue
		}
		from, to := int(code)*width, item*width
		if p.means != nil && old.Prepared != nil {
			copy(p.means[to:to+width], old.Prepared.FillValue[from:from+width])
		}
		if p.scale != nil && old.Scale != nil {
			copy(p.scale.Shift[to:to+width], old.Scale.Shift[from:from+width])
			copy(p.scale.Scale[to:to+width], old.Scale.Scale[from:from+width])
		}
	}
}

// behind is the last value of an item's feature in the generation, as it was after log1p: NaN for a new item, or where it is missing.
func (p *preparation) behind(item, feature, width int) float64 {
	if !p.knows(item) {
		return math.NaN()
	}
	old, code := p.old(), int(p.base.of[item])
	if p.do.Diff {
		return old.Prepared.Last[code*width+feature]
	}
	row := p.base.offsets[code+1] - 1
	if row < p.base.offsets[code] {
		return math.NaN()
	}
	v := numberAt(p.base.data, old, row, int64(feature))
	if s := old.Scale; s != nil {
		at := feature
		if s.Per == option.ScalePerItem {
			at += code * width
		}
		v = v*s.Scale[at] + s.Shift[at]
	}
	return v
}

// numberAt is a value of a column of numbers.
func numberAt(d *layout.Data, c *layout.ManifestColumn, row, feature int64) float64 {
	switch c.DType {
	case layout.Float64:
		return cellOf[float64](d, c, row, feature)
	case layout.Float32:
		return cellOf[float32](d, c, row, feature)
	case layout.Int32:
		return cellOf[int32](d, c, row, feature)
	case layout.Int64:
		return cellOf[int64](d, c, row, feature)
	case layout.Int16:
		return cellOf[int16](d, c, row, feature)
	case layout.Int8:
		return cellOf[int8](d, c, row, feature)
	case layout.Uint64:
		return cellOf[uint64](d, c, row, feature)
	case layout.Uint32:
		return cellOf[uint32](d, c, row, feature)
	case layout.Uint16:
		return cellOf[uint16](d, c, row, feature)
	case layout.Uint8:
		return cellOf[uint8](d, c, row, feature)
	}
	return math.NaN()
}

func cellOf[T layout.Number](d *layout.Data, c *layout.ManifestColumn, row, feature int64) float64 {
	v, err := layout.View[T](d, c)
	if err != nil {
		return math.NaN()
	}
	return float64(v.Data[row*v.Step+feature])
}

// resume lets a chain go on where the generation's item ended: gaps are filled, and differences taken, over the seam.
func resume[S float32 | float64](c *chain[S], p *preparation, item int) {
	if !p.knows(item) {
		return
	}
	v := p.behind(item, int(c.feature), int(c.from.Width))
	if v != v { // of a manifest, or a generation of before, which had another NaN
		v = column.NaN
	}
	c.last = v
	if c.Log1p {
		v = math.Expm1(v)
	}
	c.filler.before, c.filler.beforeRow = v, c.row-1
}

// checkDiff refuses to append to differences of so many items that their last values were not kept.
func (l *load) checkDiff() error {
	if l.base == nil {
		return nil
	}
	for i, c := range l.columns {
		if !l.plans[i].steps.Diff {
			continue
		}
		if old, err := l.base.data.Manifest.Column(c.Name); err != nil || old.Prepared == nil || old.Prepared.Last == nil {
			return &loaderr.SourceError{Column: c.Name, Reason: "rows cannot be appended to its differences: the values that they begin at were not kept", Hint: loaderr.HintAnew}
		}
	}
	return nil
}
