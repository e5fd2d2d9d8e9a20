package step

import (
	"math"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// Base is a generation that rows are appended to.
type Base struct {
	Data    *layout.Data
	Offsets []int64 // the first row of each of its items, and the number of its rows
	Of      []int64 // by item of the new rows: its number in the generation, -1 for a new item
}

// column returns the generation's column of a name. It is nil if b is nil.
func (b *Base) column(name string) *layout.ManifestColumn {
	if b == nil {
		return nil
	}
	c, err := b.Data.Manifest.Column(name)
	if err != nil {
		return nil // the load has refused sources with other columns
	}
	return c
}

// continues reports whether the new rows of an item continue one of the generation's.
func (r *columnRun) continues(item int) bool { return r.Base != nil && r.Base.Of[item] >= 0 }

// keepsFits reports whether every fit is that of the generation, because it is one for all items.
func (r *columnRun) keepsFits() bool { return r.Base != nil && r.Per != option.ScalePerItem }

// fitted returns the parameters of a step's fits, in lists of one number for each fit. old are
// those of the generation that rows are appended to, nil if it has none. They replace the results
// of fit for its items. If one fit is for all items, fitted returns old and does not call fit.
func (r *columnRun) fitted(
	old [][]float64, fit func() ([][]float64, error),
) ([][]float64, error) {
	if r.keepsFits() {
		return old, nil
	}
	lists, err := fit()
	if err != nil || old == nil {
		return lists, err
	}
	for item, code := range r.Base.Of {
		for i := range lists {
			if code >= 0 {
				from, to := int(code)*r.width, item*r.width
				copy(lists[i][to:to+r.width], old[i][from:from+r.width])
			}
		}
	}
	return lists, nil
}

// resume continues a series where the generation ends, so that gaps are filled and differences
// taken over the boundary.
func (r *columnRun) resume(s series) {
	if !r.continues(s.item) {
		return
	}
	code := r.Base.Of[s.item]
	last := column.NaN
	if row := r.Base.Offsets[code+1] - 1; row >= r.Base.Offsets[code] {
		last = canonical(NumberAt(r.Base.Data, r.old, row, int64(s.feature)))
	}
	for i := len(r.steps) - 1; i >= 0; i-- {
		last = r.steps[i].resume(s, last)
	}
}

// canonical returns a value, and [column.NaN] for any NaN: a generation of an earlier version may
// have another.
func canonical(v float64) float64 {
	if v != v {
		return column.NaN
	}
	return v
}

// NumberAt returns a value of a column of numbers or booleans, and NaN for other columns.
func NumberAt(d *layout.Data, c *layout.ManifestColumn, row, feature int64) float64 {
	switch c.DType {
	case layout.Float64:
		return numberOf[float64](d, c, row, feature)
	case layout.Float32:
		return numberOf[float32](d, c, row, feature)
	case layout.Int32:
		return numberOf[int32](d, c, row, feature)
	case layout.Int64:
		return numberOf[int64](d, c, row, feature)
	case layout.Int16:
		return numberOf[int16](d, c, row, feature)
	case layout.Int8:
		return numberOf[int8](d, c, row, feature)
	case layout.Uint64:
		return numberOf[uint64](d, c, row, feature)
	case layout.Uint32:
		return numberOf[uint32](d, c, row, feature)
	case layout.Uint16:
		return numberOf[uint16](d, c, row, feature)
	case layout.Uint8, layout.Bool:
		return numberOf[uint8](d, c, row, feature)
	}
	return math.NaN()
}

func numberOf[T layout.Number](d *layout.Data, c *layout.ManifestColumn, row,
	feature int64) float64 {
	v, err := layout.View[T](d, c)
	if err != nil {
		return math.NaN()
	}
	return float64(v.Data[row*v.Step+feature])
}
