package feed

import (
	"unsafe"

	"github.com/tensorcache/tensorcache/layout"
)

// lineBytes is what memory moves at once, and aheadLines the most of one span that is fetched
// ahead: the rest of a long one is fetched by the hardware, which sees it being read in order.
const (
	lineBytes  = 64
	aheadLines = 128
)

// span is what a mover reads of one stretch of memory: the lines of a window at a row are fetched
// while the window before it is moved, since random windows are in no cache and each would be
// waited for.
type span struct {
	base    unsafe.Pointer // of row 0
	row     int64          // bytes between rows
	step, n int64          // of the lines
}

// spanOf is the span of a target's samples in a column, or in columns side by side.
func spanOf[T any](source layout.Strided[T], t target) span {
	var zero T
	size := int64(unsafe.Sizeof(zero))
	row, width := source.Step*size, source.Width*size
	s := span{base: unsafe.Pointer(unsafe.SliceData(source.Data)), row: row, step: lineBytes,
		n: ((t.length-1)*row*t.dilation+width)/lineBytes + 1}
	if row*t.dilation > max(lineBytes, width) { // with gaps that need not be fetched
		s.step, s.n = row*t.dilation, t.length
	}
	s.n = min(s.n, aheadLines)
	return s
}

// ahead fetches the lines of a window whose first sample is at row.
func (s *span) ahead(row int64) { prefetch(unsafe.Add(s.base, row*s.row), s.step, s.n) }
