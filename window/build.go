package window

import (
	"fmt"
	"slices"
)

// extent is what a part keeps of one item.
type extent struct {
	a, b    int64 // rows that the spec admits
	lo, hi  int64 // rows of prediction rows
	context int64 // context may reach back to here
	bounded bool  // cut by rows or time: only positions placed in [lo, hi) count
	absent  bool  // the item is not in the part
}

// extent narrows an item by all cuts.
func (x *Index) extent(item int64) extent {
	if !x.keeps(item) {
		return extent{absent: true}
	}
	a, b := x.base.admitted(item)
	e := extent{a: a, b: b, lo: a, hi: b, context: a}
	for _, c := range x.narrow {
		e = c.narrow(x.base, item, e)
	}
	return e
}

// candidates are the items that cuts name, or all: nil, and how many.
func (x *Index) candidates() (items []int64, n int64) {
	n = x.base.table.Items()
	for _, c := range x.narrow {
		var named []int64
		switch c := c.(type) {
		case *narrowWhere:
			named = c.items
		case *narrowItems:
			named = c.items
		}
		if named != nil && int64(len(named)) <= n {
			items, n = named, int64(len(named))
		}
	}
	return items, n
}

// expected is about how many of the items will have a run.
func (x *Index) expected(items int64) int64 {
	n := float64(items)
	for _, c := range x.narrow {
		if c.rowwise() {
			return 0
		}
		if c, ok := c.(*narrowItems); ok && c.hash != nil {
			n *= min(1, 1.01*max(0, min(1, c.to)-c.from))
		}
	}
	return int64(n)
}

// build finds the runs of every item.
func (x *Index) build() error {
	b := x.base
	named, items := x.candidates()
	blocks := b.blocks
	plain := b.plain() && !slices.ContainsFunc(x.narrow, narrower.rowwise)
	x.runs.list = make([]Run, 0, x.expected(items))
	for i := range items {
		item := i
		if named != nil {
			item = named[i]
		}
		n := b.table.length(item)
		if n < 0 {
			return fmt.Errorf("%w: item %d has offsets %d and %d, want ascending", ErrTable, item,
				b.table.Offsets[item], b.table.Offsets[item+1])
		}
		for len(blocks) > 0 && blocks[0].item < item {
			blocks = blocks[1:]
		}
		if plain && (len(blocks) == 0 || blocks[0].item > item) {
			if x.keeps(item) {
				x.addPlain(item, n)
			}
			continue
		}
		if e := x.extent(item); !e.absent {
			x.addItem(item, e, blocks)
		}
	}
	x.runs = newRunList(x.runs.list, b.shape.stride)
	return nil
}

// keeps tells whether all cuts keep an item.
func (x *Index) keeps(item int64) bool {
	for _, c := range x.narrow {
		if !c.keeps(item) {
			return false
		}
	}
	return true
}

// Bytes is about the memory that the index holds beside its table.
func (x *Index) Bytes() int64 {
	bytes := 1<<10 + x.runs.bytes() + 32*int64(cap(x.base.blocks))
	if x.context != nil {
		bytes += 32 * int64(cap(x.context.blocks))
	}
	return bytes
}

// plain says that nothing but an item's end forbids a window where no block is.
func (b *base) plain() bool {
	return b.spec.Rows.open() && b.spec.Time.open() && !b.shape.fromEnd && b.shape.pad == 0
}

// addPlain is addItem for a plain index.
func (x *Index) addPlain(item, n int64) {
	sh := &x.base.shape
	positions, windows := n, max(0, n-sh.last)
	if sh.stride > 1 {
		positions, windows = (n+sh.stride-1)/sh.stride, (windows+sh.stride-1)/sh.stride
	}
	x.rejected[byItemEnd] += positions - windows
	if windows > 0 {
		x.runs.list = append(x.runs.list, Run{item, 0, windows})
	}
}

// limits are ranges of position numbers of an item, half-open.
type limits struct {
	from, to    int64 // those that count
	fits, ends  int64 // those inside the admitted rows
	first, last int64 // those that stay inside the part
}

func (x *Index) limits(p *series, e extent) limits {
	sh := &x.base.shape
	l := limits{to: p.count, last: p.count}
	if e.bounded {
		l.from, l.to = p.below(e.lo-sh.placed), p.below(e.hi-sh.placed)
		l.to = max(l.from, l.to)
		l.first, l.last = l.from, p.below(e.hi-max(sh.last, sh.placed))
	}
	if e.context > e.a {
		l.first = max(l.first, p.below(e.context))
	}
	l.fits, l.ends = p.below(e.a-p.pad), p.below(e.b-sh.last)
	return l
}

// addItem counts the positions of an item and appends its runs.
func (x *Index) addItem(item int64, e extent, blocks []block) {
	p := x.base.shape.series(x.base.table.length(item), e.a, e.b)
	l := x.limits(&p, e)
	x.reject(&p, l.from, l.to, l.fits, l.ends)
	from, to := max(l.from, l.fits), min(l.to, l.ends)
	if from >= to {
		return
	}
	k := from
	for _, bl := range blocks {
		if bl.item != item || bl.from >= to {
			break
		}
		if bl.to <= k {
			continue
		}
		x.addFree(item, &p, k, bl.from, l.first, l.last)
		k = max(k, bl.from)
		x.rejected[bl.reason] += min(bl.to, to) - k
		k = bl.to
	}
	x.addFree(item, &p, k, to, l.first, l.last)
}

// reject counts the positions in [from, to) outside [fits, ends).
func (x *Index) reject(p *series, from, to, fits, ends int64) {
	if from >= to {
		return
	}
	low := min(max(fits, from), to) - from
	high := to - max(min(ends, to), from)
	both := min(low+high, to-from)
	switch byStart, byEnd := p.a > 0, p.b < p.n; {
	case byStart && byEnd:
		x.rejected[byBounds] += both
	case byStart:
		x.rejected[byBounds] += low
		x.rejected[byItemEnd] += both - low
	case byEnd:
		x.rejected[byBounds] += high
		x.rejected[byItemEnd] += both - high
	default:
		x.rejected[byItemEnd] += both
	}
}

// addFree appends the windows among the positions [from, to); the others leave the part.
func (x *Index) addFree(item int64, p *series, from, to, first, last int64) {
	if from >= to {
		return
	}
	lo, hi := max(from, first), min(to, last)
	if lo >= hi {
		x.rejected[bySplit] += to - from
		return
	}
	x.rejected[bySplit] += to - from - (hi - lo)
	x.runs.list = append(x.runs.list, Run{item, p.at(lo), hi - lo})
}
