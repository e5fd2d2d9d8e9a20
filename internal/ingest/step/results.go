package step

import (
	"math"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/layout"
)

// results is where the results of a column's steps go.
type results interface {
	// room is where n values of a feature from a row on are computed, before they are put.
	room(row int64, n int) []float64
	// put writes them. bad is the place of the first that does not fit, -1 if all do.
	put(feature int, row int64, values []float64) (bad int)
}

// resultsTo are the results of a column of any dtype and shape.
func resultsTo(to layout.ColumnWriter) results {
	switch to.DType {
	case layout.Float64:
		if to.Dense() {
			return &inPlace{to: to}
		}
		return newConverted(to, storeFloats[float64])
	case layout.Float32:
		return newConverted(to, storeFloats[float32])
	case layout.Float16:
		return newConverted(to, storeHalves)
	case layout.Int8:
		return newConverted(to, storeIntegers[int8])
	case layout.Int16:
		return newConverted(to, storeIntegers[int16])
	case layout.Int32:
		return newConverted(to, storeIntegers[int32])
	case layout.Int64:
		return newConverted(to, storeIntegers[int64])
	case layout.Uint8, layout.Bool:
		return newConverted(to, storeIntegers[uint8])
	case layout.Uint16:
		return newConverted(to, storeIntegers[uint16])
	case layout.Uint32:
		return newConverted(to, storeIntegers[uint32])
	}
	return newConverted(to, storeIntegers[uint64])
}

// inPlace computes values of float64 where the column has them, or where they are gathered for it.
type inPlace struct {
	to   layout.ColumnWriter
	next []float64 // the memory that the column gave for them
	tile []float64 // instead of it, if it is not enough
}

func (r *inPlace) room(row int64, n int) []float64 {
	if r.next = layout.Next[float64](r.to, row, int64(n)); len(r.next) == n {
		return r.next
	}
	if r.next = nil; r.tile == nil {
		r.tile = make([]float64, TileRows)
	}
	return r.tile[:n]
}

func (r *inPlace) put(_ int, row int64, values []float64) (bad int) {
	if r.next != nil {
		r.to.Commit(row, int64(len(values)))
	} else {
		layout.WriteAt(r.to, row, values)
	}
	return -1
}

// converted stores values as D.
type converted[D layout.Native] struct {
	to      layout.ColumnWriter
	convert func(to []D, values []float64) (bad int)
	tile    []float64
	out     []D // nil if the column gives memory for them
}

func newConverted[D layout.Native](to layout.ColumnWriter, convert func(to []D, values []float64) (bad int)) *converted[D] {
	c := &converted[D]{to: to, convert: convert, tile: make([]float64, TileRows)}
	if !to.Dense() {
		c.out = make([]D, TileRows)
	}
	return c
}

func (c *converted[D]) room(_ int64, n int) []float64 { return c.tile[:n] }

func (c *converted[D]) put(feature int, row int64, values []float64) (bad int) {
	if c.out != nil {
		out := c.out[:len(values)]
		if bad := c.convert(out, values); bad >= 0 {
			return bad
		}
		to := c.to
		if to.Width > 0 {
			to = to.Feature(int64(feature))
		}
		layout.WriteAt(to, row, out)
		return -1
	}
	for done := 0; done < len(values); {
		out := layout.Next[D](c.to, row+int64(done), int64(len(values)-done))
		if bad := c.convert(out, values[done:done+len(out)]); bad >= 0 {
			return done + bad
		}
		c.to.Commit(row+int64(done), int64(len(out)))
		done += len(out)
	}
	return -1
}

func storeFloats[D float32 | float64](to []D, values []float64) (bad int) {
	for i, v := range values {
		to[i] = D(v)
	}
	return -1
}

func storeHalves(to []layout.Half, values []float64) (bad int) {
	for i, v := range values {
		to[i] = layout.HalfOf(v)
	}
	return -1
}

// storeIntegers stores whole numbers. bad is the place of the first value that D, or float64, does not hold exactly.
func storeIntegers[D integer](to []D, values []float64) (bad int) {
	for i, v := range values {
		if to[i] = D(v); v != v || math.Abs(v) >= column.ExactIntegers || float64(to[i]) != v {
			return i
		}
	}
	return -1
}

// integer are the dtypes of whole numbers.
type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}
