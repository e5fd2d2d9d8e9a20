package parquet

import (
	"bytes"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/layout"
)

// putIntegers writes the values of a page of integers. If the page has nulls and the destination is
// float64, it converts the whole page first instead of one run at a time.
func putIntegers[S int32 | uint32 | int64 | uint64](
	c *chunkDecoder, src []S, index []int32, levels []byte, n int64,
) error {
	whole := bytes.Count(levels, []byte{c.maxLevel}) == len(levels)
	if whole || c.Dest.DType != layout.Float64 || c.Dest.Loss != nil ||
		index != nil && len(src) > len(index) {
		return putPage(c, src, index, levels, n)
	}
	c.floats = c.floats[:0]
	for _, v := range src {
		c.floats = append(c.floats, float64(v))
	}
	return putWithNulls(c, c.floats, index, levels, column.NaN)
}
