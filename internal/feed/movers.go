package feed

import (
	"fmt"

	"github.com/tensorcache/tensorcache/layout"
)

// Paths that plan reports: how a window's context gets to the trainer.
const (
	PathMemcpy    = "memcpy"    // one copy of contiguous rows or channels
	PathTranspose = "transpose" // columns are interleaved, or values converted, on the way
	PathView      = "view"      // it stays where it is
)

// newMovers decides how a part's columns get into its block.
func newMovers(d *layout.Data, columns []*layout.ManifestColumn, dtype layout.DType,
	t target) ([]mover, error) {
	var out []mover
	feature := int64(0)
	for len(columns) > 0 {
		n, m, err := nextMover(d, columns, dtype, t, feature)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
		feature += width(columns[:n])
		columns = columns[n:]
	}
	return out, nil
}

// nextMover takes as many columns from the front as one mover can move. Values that need no
// conversion are moved as words of their size; others become one of the four dtypes that windows
// are converted to.
func nextMover(d *layout.Data, columns []*layout.ManifestColumn, dtype layout.DType, t target,
	feature int64) (int, mover, error) {
	from := columns[0].DType.Plain()
	if from == dtype {
		switch dtype.Size() {
		case 1:
			return moverFrom[uint8, uint8](d, columns, t, feature)
		case 2:
			return moverFrom[uint16, uint16](d, columns, t, feature)
		case 4:
			return moverFrom[uint32, uint32](d, columns, t, feature)
		case 8:
			return moverFrom[uint64, uint64](d, columns, t, feature)
		}
	}
	switch dtype {
	case layout.Float32:
		return toFloat[float32](d, columns, t, feature)
	case layout.Float64:
		return toFloat[float64](d, columns, t, feature)
	case layout.Int32:
		return fromInteger[int32](d, columns, t, feature)
	case layout.Int64:
		return fromInteger[int64](d, columns, t, feature)
	}
	return 0, nil, fmt.Errorf("gather %q into %q: %w", from, dtype, layout.ErrSchema)
}

func toFloat[D float32 | float64](d *layout.Data, columns []*layout.ManifestColumn, t target,
	feature int64) (int, mover, error) {
	switch columns[0].DType {
	case layout.Float16:
		source, err := layout.View[layout.Half](d, columns[0])
		return 1, &halfMover[D]{target: t, source: source, feature: feature}, err
	case layout.Float32:
		return moverFrom[float32, D](d, columns, t, feature)
	case layout.Float64:
		return moverFrom[float64, D](d, columns, t, feature)
	}
	return fromInteger[D](d, columns, t, feature)
}

func fromInteger[D numeric](d *layout.Data, columns []*layout.ManifestColumn, t target,
	feature int64) (int, mover, error) {
	switch columns[0].DType.Plain() {
	case layout.Int8:
		return moverFrom[int8, D](d, columns, t, feature)
	case layout.Int16:
		return moverFrom[int16, D](d, columns, t, feature)
	case layout.Int32:
		return moverFrom[int32, D](d, columns, t, feature)
	case layout.Int64:
		return moverFrom[int64, D](d, columns, t, feature)
	case layout.Uint8, layout.Bool:
		return moverFrom[uint8, D](d, columns, t, feature)
	case layout.Uint16:
		return moverFrom[uint16, D](d, columns, t, feature)
	case layout.Uint32:
		return moverFrom[uint32, D](d, columns, t, feature)
	case layout.Uint64:
		return moverFrom[uint64, D](d, columns, t, feature)
	}
	return 0, nil, fmt.Errorf("gather from %q: %w", columns[0].DType, layout.ErrSchema)
}

func moverFrom[S, D numeric](d *layout.Data, columns []*layout.ManifestColumn, t target,
	feature int64) (int, mover, error) {
	n := 1
	for n < len(columns) {
		if _, side, err := layout.Block[S](d, columns[:n+1]); err != nil {
			return 0, nil, err
		} else if !side {
			break
		}
		n++
	}
	if n == 1 && !t.channelsFirst {
		sources, err := apart[S](d, columns)
		if err != nil {
			return 0, nil, err
		}
		if len(sources) > 1 {
			return len(sources), newLaneMover[S, D](t, sources, feature), nil
		}
	}
	block, _, err := layout.Block[S](d, columns[:n])
	if err != nil {
		return 0, nil, err
	}
	return n, newBlockMover[S, D](t, block, feature), nil
}

// apart takes from the front the plain columns of one dtype that each lie contiguously.
func apart[S numeric](d *layout.Data, columns []*layout.ManifestColumn) ([][]S, error) {
	var sources [][]S
	for _, c := range columns {
		if c.DType != columns[0].DType || c.Width() != 0 || c.Strides[0] != c.DType.Size() ||
			len(sources) == lanes {
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

// path says how the movers work.
func path(movers []mover) string {
	for _, m := range movers {
		if p, ok := m.(interface{ memcpy() bool }); !ok || !p.memcpy() {
			return PathTranspose
		}
	}
	return PathMemcpy
}

func (m *blockMover[S, D]) memcpy() bool { return m.whole || m.plain }
