package rows

import (
	"context"
	"fmt"
	"math"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/layout"
)

// CopyRows copies the rows from[0], from[1], … of source to consecutive rows of to, which start at
// row at. If from is nil, it copies all rows of source. An inserted row gets the dtype's missing
// value, or 0 if the dtype has none. CopyRows returns an error unless both columns have the same
// dtype, or source is int64 and to is float64.
func CopyRows(
	ctx context.Context, workers int, to layout.ColumnWriter, at int64, source layout.ColumnWriter,
	from []int64,
) error {
	n := source.Rows
	if from != nil {
		n = int64(len(from))
	}
	if to.DType == layout.Float64 && source.DType == layout.Int64 {
		integers := layout.Values[int64](source)
		return gatherWith(ctx, workers, rowRange(layout.Values[float64](to), at, n),
			from, column.NaN,
			func(to []float64, row int64) {
				for f, v := range integers.Row(row) {
					to[f] = float64(v)
				}
			})
	}
	if to.DType.Plain() != source.DType.Plain() {
		return fmt.Errorf("rows: copy %s to %s", source.DType, to.DType)
	}
	missing := missingBits(to.DType)
	switch to.DType.Size() {
	case 1:
		return gatherRows(ctx, workers, rowRange(layout.Values[uint8](to), at, n),
			layout.Values[uint8](source), from, uint8(missing))
	case 2:
		return gatherRows(ctx, workers, rowRange(layout.Values[uint16](to), at, n),
			layout.Values[uint16](source), from, uint16(missing))
	case 4:
		return gatherRows(ctx, workers, rowRange(layout.Values[uint32](to), at, n),
			layout.Values[uint32](source), from, uint32(missing))
	default:
		return gatherRows(ctx, workers, rowRange(layout.Values[uint64](to), at, n),
			layout.Values[uint64](source), from, missing)
	}
}

// rowRange returns the n rows of a column that start at row at.
func rowRange[T layout.Native](v layout.Strided[T], at, n int64) layout.Strided[T] {
	v.Data, v.Rows = v.Data[at*v.Step:], n
	return v
}

// missingBits returns the bits of a missing value: NaN for floats, a code that no dictionary entry
// has for text, 0 for all other dtypes.
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

// blockRows is the number of rows that a worker copies at a time.
const blockRows = 1 << 16

// gatherRows copies rows of source to to, without a conversion.
func gatherRows[T layout.Native](
	ctx context.Context, workers int, to, source layout.Strided[T], from []int64, missing T,
) error {
	if from == nil && to.Contiguous() && source.Contiguous() {
		return forBlocks(ctx, workers, to.Rows, func(row, end int64) {
			copy(to.Data[row*to.Step:end*to.Step], source.Data[row*to.Step:])
		})
	}
	if from != nil && to.Width == 1 {
		return forBlocks(ctx, workers, to.Rows, func(row, end int64) {
			for i, at := range from[row:end] {
				v := missing
				if at != Inserted {
					v = source.Data[at*source.Step]
				}
				to.Data[(row+int64(i))*to.Step] = v
			}
		})
	}
	return gatherWith(ctx, workers, to, from, missing,
		func(to []T, row int64) { copy(to, source.Row(row)) })
}

// gatherWith copies rows to to: it calls copyRow for each row that a source has, and sets inserted
// rows to missing.
func gatherWith[T layout.Native](
	ctx context.Context, workers int, to layout.Strided[T], from []int64, missing T,
	copyRow func(to []T, row int64),
) error {
	return forBlocks(ctx, workers, to.Rows, func(row, end int64) {
		for ; row < end; row++ {
			at := row
			if from != nil {
				at = from[row]
			}
			if at != Inserted {
				copyRow(to.Row(row), at)
				continue
			}
			for f := range to.Row(row) {
				to.Row(row)[f] = missing
			}
		}
	})
}

// forBlocks calls block for each block of blockRows rows, on the given number of workers.
func forBlocks(ctx context.Context, workers int, rows int64, block func(row, end int64)) error {
	return parallel.For(ctx, workers, int((rows+blockRows-1)/blockRows), "", func(_, i int) error {
		block(int64(i)*blockRows, min(rows, int64(i+1)*blockRows))
		return nil
	})
}
