package window

import "iter"

// Stretch is a list of consecutive positions of one item that are all windows (Reason "") or all
// rejected for one reason. There are Count of them; the first starts at row First, and each starts
// one stride after the one before.
type Stretch struct {
	First, Count int64
	Reason       Reason
}

// Stretches returns the positions of an item in ascending order. Neighbours with the same reason
// are one stretch. An item that is not in the index has no stretches. After [Index.Latest] an item
// has one position at most.
func (x *Index) Stretches(item int64) iter.Seq[Stretch] {
	return func(yield func(Stretch) bool) {
		e := x.subset.extent(item)
		if e.absent {
			return
		}
		b := x.subset.base
		if x.subset.latest() {
			start, reason, ok := newLatestFinder(x.subset).find(item, e,
				x.subset.context.rejectionsFrom(item))
			if ok {
				yield(Stretch{start, 1, nameOf(reason)})
			}
			return
		}
		p := b.shape.positions(b.table.length(item), e.a, e.b)
		w := stretchJoiner{positions: p, yield: yield}
		w.addPositions(item, x.subset.limits(&p, e), b.rejectionsFrom(item))
		w.end()
	}
}

// stretchJoiner joins positions, which are added in ascending order, to stretches and yields them.
type stretchJoiner struct {
	positions
	yield    func(Stretch) bool
	from, to int64 // positions of the stretch that is not yet yielded
	reason   int
	stopped  bool
}

// add adds the positions [from, to).
func (w *stretchJoiner) add(from, to int64, reason int) {
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

// end yields the stretch that is not yet yielded.
func (w *stretchJoiner) end() {
	if w.from < w.to && !w.stopped {
		w.stopped = !w.yield(Stretch{w.start(w.from), w.to - w.from, nameOf(w.reason)})
	}
	w.from, w.to = 0, 0
}

// addPositions adds all positions of an item. The reasons are those that [builder.addItem] counts.
func (w *stretchJoiner) addPositions(item int64, l limits, rejections []rejection) {
	start, end := byItemEnd, byItemEnd
	if w.a > 0 {
		start = byBounds
	}
	if w.b < w.n {
		end = byBounds
	}
	fits, ends := min(max(l.fitFrom, l.from), l.to), min(max(l.fitTo, l.from), l.to)
	w.add(l.from, min(fits, ends), start)
	w.add(ends, fits, min(start, end)) // these reach over both ends
	k := fits
	for _, r := range rejections {
		if w.stopped || r.item != item || r.from >= ends {
			break
		}
		if r.to > k {
			w.addAllowed(k, r.from, l)
			w.add(max(k, r.from), min(r.to, ends), r.reason)
			k = r.to
		}
	}
	w.addAllowed(k, ends, l)
	w.add(max(fits, ends), l.to, end)
}

// addAllowed adds positions that only the split may reject.
func (w *stretchJoiner) addAllowed(from, to int64, l limits) {
	lo := max(from, min(l.first, to))
	hi := max(lo, min(l.last, to))
	w.add(from, lo, bySplit)
	w.add(lo, hi, isWindow)
	w.add(hi, to, bySplit)
}

// Holding returns the number of the window that contains a row of an item between its first and
// last row. Of several it is the one that starts last. ok is false if there is none.
func (x *Index) Holding(item, row int64) (n int64, ok bool) {
	i := x.runs.search(item, row+1) - 1
	if i < 0 || x.runs.list[i].Item != item {
		return 0, false
	}
	b := x.subset.base
	if x.subset.latest() {
		b = x.subset.context
	}
	r, stride := &x.runs.list[i], x.runs.stride
	k := min((row-r.First)/stride, r.Count-1)
	return x.runs.firstNumber(i) + k, r.First+k*stride+b.shape.last >= row
}
