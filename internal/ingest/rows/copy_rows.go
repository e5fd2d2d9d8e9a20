package rows

import (
	"context"
	"math"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/layout"
)

// CopyRows copies rows from[0], from[1], … of a column to the rows from at on of another of the same dtype, or of int64 to float64;
// without from, all of them. A row that is inserted becomes missing where the dtype can say so, else 0.
func CopyRows(ctx context.Context, workers int, to layout.ColumnWriter, at int64, source layout.ColumnWriter, from []int64) error {
	n := source.Rows
	if from != nil {
		n = int64(len(from))
	}
	if to.DType == layout.Float64 && source.DType == layout.Int64 {
		whole := layout.Values[int64](source)
		return carryInto(ctx, workers, stretch(layout.Values[float64](to), at, n), from, column.NaN, func(to []float64, row int64) {
			for f, v := range whole.Row(row) {
				to[f] = float64(v)
			}
		})
	}
	none := missingBits(to.DType)
	switch to.DType.Size() {
	case 1:
		return carryRows(ctx, workers, stretch(layout.Values[uint8](to), at, n), layout.Values[uint8](source), from, uint8(none))
	case 2:
		return carryRows(ctx, workers, stretch(layout.Values[uint16](to), at, n), layout.Values[uint16](source), from, uint16(none))
	case 4:
		return carryRows(ctx, workers, stretch(layout.Values[uint32](to), at, n), layout.Values[uint32](source), from, uint32(none))
	default:
		return carryRows(ctx, workers, stretch(layout.Values[uint64](to), at, n), layout.Values[uint64](source), from, none)
	}
}

// stretch is n rows of a column.
func stretch[T layout.Native](v layout.Strided[T], at, n int64) layout.Strided[T] {
	v.Data, v.Rows = v.Data[at*v.Step:], n
	return v
}

// missingBits are those of a value that is missing: NaN, and the code of no word.
func missingBits(d layout.DType) uint64 {
	switch d {
	case layout.Float16:
		return uint64(layout.HalfOf(column.NaN).Bits())
	case layout.Float32:
		return uint64(math.Float32bits(float32(column.NaN)))
	case layout.Float64:
		return math.Float64bits(column.NaN)
	case layout.Text:
		return math.MaxUint32
	}
	return 0
}

// carryBlock is how many rows a worker copies at once.
const carryBlock = 1 << 16

func carryRows[T layout.Native](ctx context.Context, workers int, to, source layout.Strided[T], from []int64, none T) error {
	if from == nil && to.Contiguous() && source.Contiguous() {
		return carryBlocks(ctx, workers, to.Rows, func(row, end int64) {
			copy(to.Data[row*to.Step:end*to.Step], source.Data[row*to.Step:])
		})
	}
	if from != nil && to.Width == 1 {
		return carryBlocks(ctx, workers, to.Rows, func(row, end int64) {
			for i, at := range from[row:end] {
				v := none
				if at != Inserted {
					v = source.Data[at*source.Step]
				}
				to.Data[(row+int64(i))*to.Step] = v
			}
		})
	}
	return carryInto(ctx, workers, to, from, none, func(to []T, row int64) { copy(to, source.Row(row)) })
}

func carryInto[T layout.Native](ctx context.Context, workers int, to layout.Strided[T], from []int64, none T, move func(to []T, row int64)) error {
	return carryBlocks(ctx, workers, to.Rows, func(row, end int64) {
		for ; row < end; row++ {
			at := row
			if from != nil {
				at = from[row]
			}
			if at != Inserted {
				move(to.Row(row), at)
				continue
			}
			for f := range to.Row(row) {
				to.Row(row)[f] = none
			}
		}
	})
}

// carryBlocks cuts rows into blocks for the workers.
func carryBlocks(ctx context.Context, workers int, rows int64, block func(row, end int64)) error {
	return parallel.For(ctx, workers, int((rows+carryBlock-1)/carryBlock), "", func(_, i int) error {
		block(int64(i)*carryBlock, min(rows, int64(i+1)*carryBlock))
		return nil
	})
}
