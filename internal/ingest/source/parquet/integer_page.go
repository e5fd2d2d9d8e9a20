package parquet

import (
	"bytes"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/layout"
)

// writeIntegers writes the values of a page of integers. If the page has nulls and the destination is
// float64, it converts the whole page first instead of one run at a time.
func writeIntegers[S int32 | uint32 | int64 | uint64](
	c *generalDecoder, src []S, index []int32, levels []byte, n int64,
) error {
	whole := bytes.Count(levels, []byte{c.maxLevel}) == len(levels)
	if whole || c.Dest.DType != layout.Float64 || c.Dest.Loss != nil ||
		index != nil && len(src) > len(index) {
		return writePage(c, src, index, levels, n)
	}
	c.floats = c.floats[:0]
	for _, v := range src {
		c.floats = append(c.floats, float64(v))
	}
	return writeWithNulls(c, c.floats, index, levels, column.NaN)
}
