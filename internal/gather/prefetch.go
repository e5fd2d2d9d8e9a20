package gather

import (
	"unsafe"

	"github.com/tensorcache/tensorcache/layout"
)

// lineBytes is the size of a cache line. maxLines is how many lines of one range are prefetched at
// most: the hardware fetches the rest of a long range, once it is read in order.
const (
	lineBytes = 64
	maxLines  = 128
)

// lineRange is the cache lines that a mover reads of one stretch of memory for a window.
type lineRange struct {
	base  unsafe.Pointer // of row 0
	row   int64          // bytes between rows
	step  int64          // bytes between the lines
	lines int64
}

// newLineRange returns the lines of a block's samples in a column, or in adjacent columns.
func newLineRange[T any](source layout.Strided[T], b Block) lineRange {
	var zero T
	size := int64(unsafe.Sizeof(zero))
	row, width := source.Step*size, source.Width*size
	r := lineRange{base: unsafe.Pointer(unsafe.SliceData(source.Data)), row: row, step: lineBytes,
		lines: ((b.Length-1)*row*b.Dilation+width)/lineBytes + 1}
	if row*b.Dilation > max(lineBytes, width) { // the gaps between samples need not be fetched
		r.step, r.lines = row*b.Dilation, b.Length
	}
	r.lines = min(r.lines, maxLines)
	return r
}

// prefetch fetches the lines of a window whose first sample is at row.
func (r *lineRange) prefetch(row int64) { prefetch(unsafe.Add(r.base, row*r.row), r.step, r.lines) }
