package step

import (
	"math"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// TileRows is how many values of a feature go through the steps at a time. What is fitted is summed up tile by tile and then
// joined: results depend on it, not on timing.
const TileRows = 16 << 10

// chain does the steps before scaling to one feature of one item, a tile at a time, in the order fill, clip, log1p, diff. It reads
// ahead of what it gives and never behind, so that the result may overwrite the source.
type chain[S float32 | float64] struct {
	option.Steps
	from    layout.Strided[S]
	feature int64
	row     int64 // of the next value
	end     int64 // of the item
	filler  filler[S]
	last    float64 // of diff: the value before the tile, NaN at the item's first
	first   float64 // of diff: the value before the first difference, else the last value
	found   bool    // there was a difference
	own     bool    // values are never the source's
	whole   bool    // values are integers, which must be below exactIntegers
	tile    [TileRows]float64
}

// begin turns to the rows from row to end-1 of a feature. mean is what fill mean fills with.
func (c *chain[S]) begin(feature, row, end int64, mean float64) {
	c.feature, c.row, c.end = feature, row, end
	c.last, c.first, c.found = column.NaN, math.NaN(), false
	c.filler = newFiller(c.Fill, mean, c.from, feature, end)
}

// next is the next values, valid until the next call: those of the source itself where nothing is done to them. bad is the place of a
// value that has no logarithm, or of an integer that may have been rounded; -1 if there is none.
func (c *chain[S]) next() (values []float64, bad int) {
	values = c.tile[:min(TileRows, c.end-c.row)]
	same, ok := any(c.from.Data).([]float64)
	switch {
	case ok && c.from.Step == 1 && !c.own && c.Steps == option.Steps{}:
		values = same[c.row:][:len(values)]
	case ok && c.from.Step == 1:
		copy(values, same[c.row:])
	case c.from.Step == 1:
		for i, v := range c.from.Data[c.row:][:len(values)] {
			values[i] = float64(v)
		}
	default:
		at := c.row*c.from.Step + c.feature
		for i := range values {
			values[i] = float64(c.from.Data[at])
			at += c.from.Step
		}
	}
	if c.whole {
		if bad := column.FirstInexact(values); bad >= 0 {
			return values, bad
		}
	}
	if c.Fill.How != "" {
		c.filler.fill(values, c.row)
	}
	if c.Clip.HasLow || c.Clip.HasHigh {
		c.Clip.Apply(values)
	}
	if c.Log1p {
		for i, v := range values {
			if v <= -1 {
				return values, i
			}
			values[i] = math.Log1p(v)
		}
	}
	if c.Diff {
		c.differences(values)
	}
	c.row += int64(len(values))
	return values, -1
}

// differences replaces values by how much each is above the one before; the item's first has none and is NaN.
func (c *chain[S]) differences(values []float64) {
	last := c.last
	for i, v := range values {
		d := v - last
		if !c.found {
			if c.first = v; d == d {
				c.first, c.found = last, true
			}
		}
		values[i], last = d, v
	}
	c.last = last
}
