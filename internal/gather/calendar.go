package gather

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/calendar"
	"github.com/tensorcache/tensorcache/internal/timezone"
	"github.com/tensorcache/tensorcache/layout"
)

// Calendar copies one part of windows that may reach beyond the end of their item. Its columns are
// calendar columns, whose values there are computed. It is immutable and safe for concurrent use.
type Calendar struct {
	part   *Part // copies windows inside their item
	values *calendar.Values
	ends   *calendar.Ends
	stored []layout.Strided[float32]
	double bool // the dtype is float64
}

// NewCalendar returns one part of calendar columns, which are those of part. dtype must be float32 or
// float64; else, and if a column is not a calendar column, the error wraps [layout.ErrSchema].
func NewCalendar(d *layout.Data, columns []*layout.ManifestColumn, dtype layout.DType, part *Part,
	ends *calendar.Ends) (*Calendar, error) {
	c := &Calendar{part: part, ends: ends, double: dtype == layout.Float64}
	if !c.double && dtype != layout.Float32 {
		return nil, fmt.Errorf("%w: calendar columns as %s", layout.ErrSchema, dtype)
	}
	features, ofTime := make([]calendar.Column, len(columns)), false
	for i, column := range columns {
		var ok bool
		if features[i], ok = calendar.Of(column.Calendar); !ok {
			return nil, fmt.Errorf("%w: column %q is not a calendar column", layout.ErrSchema, column.Name)
		}
		ofTime = ofTime || features[i].IsOfTime()
		values, err := layout.View[float32](d, column)
		if err != nil {
			return nil, err
		}
		c.stored = append(c.stored, values)
	}
	var unit, zone string
	if ofTime {
		times, err := d.Manifest.Column(d.Manifest.Time)
		if err != nil {
			return nil, err
		}
		unit, zone = times.Unit, times.Zone
	}
	location, ok := timezone.Find(zone)
	if !ok {
		return nil, fmt.Errorf("%w: time zone %q is unknown", layout.ErrSchema, zone)
	}
	c.values = calendar.NewValues(features, unit, location)
	return c, nil
}

// Copy writes the block of a window of an item, as [Part.Copy] does. row is that of the dataset, or
// would be if the item had more rows.
func (c *Calendar) Copy(block []byte, item, row, padding int64) {
	end, b := c.ends.Of(item), c.part.block
	if row+(b.Length-padding-1)*b.Dilation < end.End {
		c.part.Copy(block, row, padding)
		return
	}
	if padding > 0 {
		clear(block)
	}
	var clock calendar.Clock
	values := make([]float32, len(c.stored))
	computed := make([][]float32, len(values)) // the same memory
	for i := range values {
		computed[i] = values[i : i+1]
	}
	for sample := padding; sample < b.Length; sample++ {
		at := row + (sample-padding)*b.Dilation
		if after := at - end.End + 1; after > 0 {
			c.values.Of(&clock, []int64{end.Last + after*end.Step}, at-end.First, computed)
		} else {
			for i := range c.stored {
				values[i] = c.stored[i].Data[at*c.stored[i].Step]
			}
		}
		for feature, v := range values {
			i := sample*b.Features + int64(feature)
			if b.ChannelsFirst {
				i = int64(feature)*b.Length + sample
			}
			if c.double {
				asSlice[float64](block)[i] = float64(v)
			} else {
				asSlice[float32](block)[i] = v
			}
		}
	}
}
