package step

import (
	"math"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/layout"
)

// results stores the results of a column's steps.
type results interface {
	// destination returns memory for n values of a feature from a row on, for store.
	destination(row int64, n int) []float64
	// store stores the values, which are in the memory that destination returned. bad is the index
	// of the first value outside the dtype, -1 if there is none.
	store(feature int, row int64, values []float64) (bad int)
}

// resultsTo returns the results of a column of any numeric dtype and shape.
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

// inPlace has float64 values computed in the memory of the column, or in its write buffer.
type inPlace struct {
	to   layout.ColumnWriter
	next []float64 // the memory of the column; nil if it is not enough
	tile []float64 // used instead
}

func (r *inPlace) destination(row int64, n int) []float64 {
	if r.next = layout.Next[float64](r.to, row, int64(n)); len(r.next) == n {
		return r.next
	}
	if r.next = nil; r.tile == nil {
		r.tile = make([]float64, TileRows)
	}
	return r.tile[:n]
}

func (r *inPlace) store(_ int, row int64, values []float64) (bad int) {
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
	out     []D // converted values; nil if they are written to the memory of the column
}

func newConverted[D layout.Native](
	to layout.ColumnWriter, convert func(to []D, values []float64) (bad int),
) *converted[D] {
	c := &converted[D]{to: to, convert: convert, tile: make([]float64, TileRows)}
	if !to.Dense() {
		c.out = make([]D, TileRows)
	}
	return c
}

func (c *converted[D]) destination(_ int64, n int) []float64 { return c.tile[:n] }

func (c *converted[D]) store(feature int, row int64, values []float64) (bad int) {
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

// storeFloats converts values to D.
func storeFloats[D float32 | float64](to []D, values []float64) (bad int) {
	for i, v := range values {
		to[i] = D(v)
	}
	return -1
}

// storeHalves converts values to float16.
func storeHalves(to []layout.Half, values []float64) (bad int) {
	for i, v := range values {
		to[i] = layout.HalfOf(v)
	}
	return -1
}

// storeIntegers stores integers. bad is the index of the first value that is not an integer of D,
// or not exact in float64.
func storeIntegers[D integer](to []D, values []float64) (bad int) {
	for i, v := range values {
		if to[i] = D(v); v != v || math.Abs(v) >= column.ExactIntegers || float64(to[i]) != v {
			return i
		}
	}
	return -1
}

// integer are the Go types of integer columns.
type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}
