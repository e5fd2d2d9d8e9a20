package feed

import (
	"github.com/tensorcache/tensorcache/layout"
)

func storeColumn(d layout.ColumnWriter, values [][]float64) {
	switch d.DType.Plain() {
	case layout.Float16:
		storeAs(layout.Values[layout.Half](d), values, layout.HalfOf)
	case layout.Float32:
		storeAs(layout.Values[float32](d), values, number[float32])
	case layout.Float64:
		storeAs(layout.Values[float64](d), values, number[float64])
	case layout.Int8:
		storeAs(layout.Values[int8](d), values, number[int8])
	case layout.Int16:
		storeAs(layout.Values[int16](d), values, number[int16])
	case layout.Int32:
		storeAs(layout.Values[int32](d), values, number[int32])
	case layout.Int64:
		storeAs(layout.Values[int64](d), values, number[int64])
	case layout.Uint8, layout.Bool:
		storeAs(layout.Values[uint8](d), values, number[uint8])
	case layout.Uint16:
		storeAs(layout.Values[uint16](d), values, number[uint16])
	case layout.Uint32:
		storeAs(layout.Values[uint32](d), values, number[uint32])
	case layout.Uint64:
		storeAs(layout.Values[uint64](d), values, number[uint64])
	}
}

func number[T layout.Number](v float64) T { return T(v) }

func storeAs[T layout.Native](to layout.Strided[T], values [][]float64, of func(float64) T) {
	for i, row := range values {
		for j, v := range row {
			to.Row(int64(i))[j] = of(v)
		}
	}
}
