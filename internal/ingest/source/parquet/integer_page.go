package parquet

import (
	"bytes"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/layout"
)

// putWholes writes the values of a page of integers. Those with gaps that go into a column of float64, to
// be filled there, are converted a page at a time, not a run at a time.
func putIntegers[S int32 | uint32 | int64 | uint64](c *chunkDecoder, src []S, index []int32, levels []byte, n int64) error {
	whole := bytes.Count(levels, []byte{c.maxLevel}) == len(levels)
	if whole || c.Dest.DType != layout.Float64 || c.Dest.Loss != nil || index != nil && len(src) > len(index) {
		return putPage(c, src, index, levels, n)
	}
	c.floats = c.floats[:0]
	for _, v := range src {
		c.floats = append(c.floats, float64(v))
	}
	return putWithNulls(c, c.floats, index, levels, column.NaN)
}
