package gather

import (
	"fmt"

	"github.com/tensorcache/tensorcache/layout"
)

// newMovers chooses the movers that copy columns into a block.
func newMovers(d *layout.Data, columns []*layout.ManifestColumn, dtype layout.DType,
	b Block) ([]mover, error) {
	var out []mover
	feature := int64(0)
	for len(columns) > 0 {
		n, m, err := nextMover(d, columns, dtype, b, feature)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
		for _, c := range columns[:n] {
			feature += max(c.Width(), 1)
		}
		columns = columns[n:]
	}
	return out, nil
}

// nextMover returns a mover of as many of the first columns as it can move, and their number.
// Values that need no conversion are moved as words of their size.
func nextMover(d *layout.Data, columns []*layout.ManifestColumn, dtype layout.DType, b Block,
	feature int64) (int, mover, error) {
	from := columns[0].DType.Plain()
	if from == dtype {
		switch dtype.Size() {
		case 1:
			return moverFrom[uint8, uint8](d, columns, b, feature)
		case 2:
			return moverFrom[uint16, uint16](d, columns, b, feature)
		case 4:
			return moverFrom[uint32, uint32](d, columns, b, feature)
		case 8:
			return moverFrom[uint64, uint64](d, columns, b, feature)
		}
	}
	switch dtype {
	case layout.Float32:
		return toFloat[float32](d, columns, b, feature)
	case layout.Float64:
		return toFloat[float64](d, columns, b, feature)
	case layout.Int32:
		return fromInteger[int32](d, columns, b, feature)
	case layout.Int64:
		return fromInteger[int64](d, columns, b, feature)
	}
	return 0, nil, fmt.Errorf("gather %q into %q: %w", from, dtype, layout.ErrSchema)
}

func toFloat[D numeric](d *layout.Data, columns []*layout.ManifestColumn, b Block,
	feature int64) (int, mover, error) {
	switch columns[0].DType {
	case layout.Float16:
		source, err := layout.View[layout.Half](d, columns[0])
		return 1, &halfMover[D]{Block: b, source: source, feature: feature}, err
	case layout.Float32:
		return moverFrom[float32, D](d, columns, b, feature)
	case layout.Float64:
		return moverFrom[float64, D](d, columns, b, feature)
	}
	return fromInteger[D](d, columns, b, feature)
}

func fromInteger[D numeric](d *layout.Data, columns []*layout.ManifestColumn, b Block,
	feature int64) (int, mover, error) {
	switch columns[0].DType.Plain() {
	case layout.Int8:
		return moverFrom[int8, D](d, columns, b, feature)
	case layout.Int16:
		return moverFrom[int16, D](d, columns, b, feature)
	case layout.Int32:
		return moverFrom[int32, D](d, columns, b, feature)
	case layout.Int64:
		return moverFrom[int64, D](d, columns, b, feature)
	case layout.Uint8, layout.Bool:
		return moverFrom[uint8, D](d, columns, b, feature)
	case layout.Uint16:
		return moverFrom[uint16, D](d, columns, b, feature)
	case layout.Uint32:
		return moverFrom[uint32, D](d, columns, b, feature)
	case layout.Uint64:
		return moverFrom[uint64, D](d, columns, b, feature)
	}
	return 0, nil, fmt.Errorf("gather from %q: %w", columns[0].DType, layout.ErrSchema)
}

func moverFrom[S, D numeric](d *layout.Data, columns []*layout.ManifestColumn, b Block,
	feature int64) (int, mover, error) {
	n := 1
	for n < len(columns) {
		if _, adjacent, err := layout.Block[S](d, columns[:n+1]); err != nil {
			return 0, nil, err
		} else if !adjacent {
			break
		}
		n++
	}
	if n == 1 && !b.ChannelsFirst {
		sources, err := separateColumns[S](d, columns)
		if err != nil {
			return 0, nil, err
		}
		if len(sources) > 1 {
			return len(sources), newInterleaver[S, D](b, sources, feature), nil
		}
	}
	block, _, err := layout.Block[S](d, columns[:n])
	if err != nil {
		return 0, nil, err
	}
	return n, newAdjacentMover[S, D](b, block, feature), nil
}

// separateColumns returns the first columns that are of one dtype and of shape [rows], and whose
// values are contiguous.
func separateColumns[S numeric](d *layout.Data, columns []*layout.ManifestColumn) ([][]S, error) {
	var sources [][]S
	for _, c := range columns {
		if c.DType != columns[0].DType || c.Width() != 0 || c.Strides[0] != c.DType.Size() {
			break
		}
		v, err := layout.View[S](d, c)
		if err != nil {
			return nil, err
		}
		sources = append(sources, v.Data)
	}
	return sources, nil
}
