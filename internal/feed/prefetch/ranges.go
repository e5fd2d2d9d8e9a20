package prefetch

import (
	"cmp"
	"slices"

	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/window"
)

// pageBytes is about the size of a page.
const pageBytes = 1 << 12

// columnRange is what windows read of columns that are adjacent in the file: some bytes of each
// row, in some rows of a window.
type columnRange struct {
	offset int64 // of row 0 in the file
	row    int64 // bytes between rows
	width  int64 // bytes that are read of a row
	first  int64 // the window's row at which it begins
	rows   int64
}

// columnRanges returns what the parts of windows read, each range once. If masks is true, masks are
// made from the values.
func columnRanges(w *plan.Windows, masks bool) (out []columnRange) {
	dilation := max(w.Index.Spec().Dilation, 1)
	for _, p := range w.Parts() {
		if p.Of == plan.Static || p.Length == 0 || !masks && !p.HasValues() {
			continue // an item's static values are one row, and small
		}
		for _, c := range p.Columns {
			out = append(out, columnRange{c.Offset, c.Strides[0],
				max(c.Width(), 1) * c.DType.Size(), p.First * dilation,
				(p.Length-1)*dilation + 1})
		}
	}
	slices.SortFunc(out, func(a, b columnRange) int {
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.offset, b.offset),
			cmp.Compare(a.first, b.first))
	})
	merged := out[:0]
	for _, r := range out {
		if n := len(merged); n > 0 && merged[n-1].merge(r) {
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

// merge adds a range of the same rows of the file that is near in a window's rows, and reports
// whether it did.
func (r *columnRange) merge(o columnRange) bool {
	if o.row != r.row || o.offset-r.offset >= r.row || o.first > r.first+r.rows ||
		r.first > o.first+o.rows {
		return false
	}
	r.width = max(r.width, o.offset-r.offset+o.width)
	first, end := min(r.first, o.first), max(r.first+r.rows, o.first+o.rows)
	r.first, r.rows = first, end-first
	return true
}

// isDense reports whether windows that start stride rows apart leave less than a page between them.
func (r columnRange) isDense(stride int64) bool { return (stride-r.rows)*r.row < pageBytes }

// inFile returns where in the file a window's rows of the range are. Rows outside its item are
// padding, or in the future.
func (r columnRange) inFile(w *plan.Windows, p window.Place) (from, to int64) {
	first, end := w.Offsets[p.Item], w.Offsets[p.Item+1]
	row := w.Offsets[p.Item] + p.Start + r.first
	from, to = max(row, first), min(row+r.rows, end)
	if from >= to {
		from, to = first, first+1
	}
	return r.offset + from*r.row, r.offset + (to-1)*r.row + r.width
}

// eachRange calls do for all that a batch reads. Ranges that are adjacent or less than a page apart
// are joined.
func (p *Prefetcher) eachRange(b *sampler.Batch, do func(offset, n int64)) {
	x, last := p.windows.Index, len(b.Windows)-1
	stride := max(x.Spec().Stride, 1)
	together := p.consecutive && p.windows.AreConsecutive(b.Windows)
	for _, r := range p.ranges {
		from, to := r.inFile(p.windows, x.Place(b.Windows[0]))
		if together && r.isDense(stride) {
			_, to = r.inFile(p.windows, x.Place(b.Windows[last]))
			do(from, to-from)
			continue
		}
		for _, number := range b.Windows[1:] {
			f, t := r.inFile(p.windows, x.Place(number))
			if f >= from && f <= to {
				to = max(to, t)
				continue
			}
			do(from, to-from)
			from, to = f, t
		}
		do(from, to-from)
	}
}
