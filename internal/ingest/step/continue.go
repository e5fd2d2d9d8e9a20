package step

import (
	"math"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// Base is a generation that rows are appended to, as far as steps know it.
type Base struct {
	Data    *layout.Data
	Offsets []int64 // of its items
	Of      []int64 // by item of the new rows: its number in the generation, -1 for a new one
}

// old is the generation's column that the rows of this one are appended to, nil if nothing is appended.
func (p *preparation) old() *layout.ManifestColumn {
	if p.Base == nil {
		return nil
	}
	c, err := p.Base.Data.Manifest.Column(p.Column.Name)
	if err != nil {
		return nil // conform has found it
	}
	return c
}

// knows reports whether an item is one of the generation's.
func (p *preparation) knows(item int) bool { return p.Base != nil && p.Base.Of[item] >= 0 }

// keeps reports whether all that is fitted is the generation's: one fit for all items.
func (p *preparation) keeps() bool { return p.Base != nil && p.Per != option.ScalePerItem }

// takeOver replaces what was fitted to the new rows by what was fitted to the generation: all of it, or that of its items.
func (p *preparation) takeOver(width int) {
	old := p.old()
	if old == nil {
		return
	}
	if p.keeps() {
		if p.Steps.Fill.How == option.FillMean && old.Prepared != nil {
			p.means = old.Prepared.FillValue
		}
		p.scale = old.Scale
		return
	}
	for item, code := range p.Base.Of {
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
	old, code := p.old(), int(p.Base.Of[item])
	if p.Steps.Diff {
		return old.Prepared.Last[code*width+feature]
	}
	row := p.Base.Offsets[code+1] - 1
	if row < p.Base.Offsets[code] {
		return math.NaN()
	}
	v := NumberAt(p.Base.Data, old, row, int64(feature))
	if s := old.Scale; s != nil {
		at := feature
		if s.Per == option.ScalePerItem {
			at += code * width
		}
		v = v*s.Scale[at] + s.Shift[at]
	}
	return v
}

// NumberAt is a value of a column of numbers.
func NumberAt(d *layout.Data, c *layout.ManifestColumn, row, feature int64) float64 {
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
