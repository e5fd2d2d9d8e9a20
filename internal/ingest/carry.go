package ingest

import (
	"context"
	"math"

	"github.com/tensorcache/tensorcache/layout"
)

// carry copies rows from[0], from[1], … of a column into another of the same dtype, or of int64 into float64; without from, all of
// them. A row that is inserted becomes missing where the dtype can say so, else 0.
func carry(ctx context.Context, workers int, to, source layout.Dest, from []int64) error {
	if to.DType == layout.Float64 && source.DType == layout.Int64 {
		whole := layout.Values[int64](source)
		return carryInto(ctx, workers, layout.Values[float64](to), from, math.NaN(), func(to []float64, row int64) {
			for f, v := range whole.Row(row) {
				to[f] = float64(v)
			}
		})
	}
	none := missingBits(to.DType)
	switch to.DType.Size() {
	case 1:
		return carryRows(ctx, workers, layout.Values[uint8](to), layout.Values[uint8](source), from, uint8(none))
	case 2:
		return carryRows(ctx, workers, layout.Values[uint16](to), layout.Values[uint16](source), from, uint16(none))
	case 4:
		return carryRows(ctx, workers, layout.Values[uint32](to), layout.Values[uint32](source), from, uint32(none))
	default:
		return carryRows(ctx, workers, layout.Values[uint64](to), layout.Values[uint64](source), from, none)
	}
}

// missingBits are those of a value that is missing: NaN, and the code of no word.
func missingBits(d layout.DType) uint64 {
	switch d {
	case layout.Float16:
		return uint64(layout.HalfOf(math.NaN()).Bits())
	case layout.Float32:
		return uint64(math.Float32bits(float32(math.NaN())))
	case layout.Float64:
		return math.Float64bits(math.NaN())
	case layout.Text:
		return math.MaxUint32
	}
	return 0
}

// carryBlock is how many rows a worker copies at once.
const carryBlock = 1 << 16

func carryRows[T layout.Native](ctx context.Context, workers int, to, source layout.Strided[T], from []int64, none T) error {
	return carryInto(ctx, workers, to, from, none, func(to []T, row int64) { copy(to, source.Row(row)) })
}

func carryInto[T layout.Native](ctx context.Context, workers int, to layout.Strided[T], from []int64, none T, move func(to []T, row int64)) error {
	tasks := int((to.Rows + carryBlock - 1) / carryBlock)
	return parallel(ctx, workers, tasks, "", func(_, i int) error {
		for row := int64(i) * carryBlock; row < min(to.Rows, int64(i+1)*carryBlock); row++ {
			at := row
			if from != nil {
				at = from[row]
			}
			if at != inserted {
				move(to.Row(row), at)
				continue
			}
			for f := range to.Row(row) {
				to.Row(row)[f] = none
			}
		}
		return nil
	})
}
