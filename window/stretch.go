package window

import (
	"iter"
	"sort"
)

// Stretch is positions of one item, Count starts from First on, one stride apart, that are all
// windows (Reason "") or all rejected for one reason.
type Stretch struct {
	First, Count int64
	Reason       Reason
}

// Stretches are the positions of an item in ascending order, each once: neighbours of one reason
// are one stretch. An item that is not in the index has none. Of [Index.Latest] it is the one
// position that the item has.
func (x *Index) Stretches(item int64) iter.Seq[Stretch] {
	return func(yield func(Stretch) bool) {
		e := x.part.extent(item)
		if e.absent {
			return
		}
		b := x.part.base
		if x.part.latest() {
			start, reason, ok := newLatestFinder(x.part).find(item, e,
				x.part.context.blocksFrom(item))
			if ok {
				yield(Stretch{start, 1, nameOf(reason)})
			}
			return
		}
		p := b.shape.series(b.table.length(item), e.a, e.b)
		w := stretches{series: p, yield: yield}
		w.walk(item, x.part.limits(&p, e), b.blocksFrom(item))
		w.end()
	}
}

// blocksFrom are the blocks of an item and those after it.
func (b *base) blocksFrom(item int64) []block {
	return b.blocks[sort.Search(len(b.blocks),
		func(i int) bool { return b.blocks[i].item >= item }):]
}

// stretches joins what is added, in ascending order, as long as it is of one reason.
type stretches struct {
	series
	yield    func(Stretch) bool
	from, to int64 // position numbers of the stretch that is not yet yielded
	reason   int
	stopped  bool
}

func (w *stretches) add(from, to int64, reason int) {
	if from >= to || w.stopped {
		return
	}
	if w.from < w.to && w.reason == reason {
		w.to = to
		return
	}
	w.end()
	w.from, w.to, w.reason = from, to, reason
}

// end yields the last one.
func (w *stretches) end() {
	if w.from < w.to && !w.stopped {
		w.stopped = !w.yield(Stretch{w.at(w.from), w.to - w.from, nameOf(w.reason)})
	}
	w.from, w.to = 0, 0
}

// walk adds the positions of an item as [builder.addItem] counts them.
func (w *stretches) walk(item int64, l limits, blocks []block) {
	start, end := byItemEnd, byItemEnd
	if w.a > 0 {
		start = byBounds
	}
	if w.b < w.n {
		end = byBounds
	}
	fits, ends := min(max(l.fits, l.from), l.to), min(max(l.ends, l.from), l.to)
	w.add(l.from, min(fits, ends), start)
	w.add(ends, fits, min(start, end)) // over both
	k := fits
	for _, bl := range blocks {
		if w.stopped || bl.item != item || bl.from >= ends {
			break
		}
		if bl.to > k {
			w.free(k, bl.from, l)
			w.add(max(k, bl.from), min(bl.to, ends), bl.reason)
			k = bl.to
		}
	}
	w.free(k, ends, l)
	w.add(max(fits, ends), l.to, end)
}

// free adds positions that nothing forbids but the part.
func (w *stretches) free(from, to int64, l limits) {
	lo := max(from, min(l.first, to))
	hi := max(lo, min(l.last, to))
	w.add(from, lo, bySplit)
	w.add(lo, hi, isWindow)
	w.add(hi, to, bySplit)
}

// Holding is the window of an item whose rows, from its first to its last, hold a row and whose
// start is nearest before it; false where there is none.
func (x *Index) Holding(item, row int64) (number int64, ok bool) {
	i := x.runs.search(item, row+1) - 1
	if i < 0 || x.runs.list[i].Item != item {
		return 0, false
	}
	b := x.part.base
	if x.part.latest() {
		b = x.part.context
	}
	r, stride := &x.runs.list[i], x.runs.stride
	k := min((row-r.First)/stride, r.Count-1)
	return x.runs.firstNumber(i) + k, r.First+k*stride+b.shape.last >= row
}
