package window

// builder collects the runs of a subset item by item, in ascending order, and counts the positions
// that are not windows.
type builder struct {
	subset   *subset
	items    itemList
	runs     []Run
	rejected reasonCounts
}

func newBuilder(p *subset) *builder {
	items := p.items()
	return &builder{subset: p, items: items, runs: make([]Run, 0, p.expectedRuns(items.n))}
}

// addAll adds the runs of all items.
func (x *builder) addAll() error {
	b := x.subset.base
	rejections := b.rejections
	plain := b.plain() && !x.subset.narrowsRows()
	for i := range x.items.n {
		item := x.items.at(i)
		n := b.table.length(item)
		if n < 0 {
			return b.table.descendingOffsets(item)
		}
		for len(rejections) > 0 && rejections[0].item < item {
			rejections = rejections[1:]
		}
		if plain && (len(rejections) == 0 || rejections[0].item > item) {
			if x.subset.contains(item) {
				x.addPlain(item, n)
			}
			continue
		}
		if e := x.subset.extent(item); !e.absent {
			x.addItem(item, e, rejections)
		}
	}
	return nil
}

// plain reports whether an item's end is the only thing that rejects positions that are not in
// b.rejections.
func (b *base) plain() bool {
	return b.spec.Rows.open() && b.spec.Time.open() && !b.shape.fromEnd && b.shape.pad == 0
}

// addPlain is addItem for a plain base and an item without rejections.
func (x *builder) addPlain(item, n int64) {
	sh := &x.subset.base.shape
	positions, windows := n, max(0, n-sh.last)
	if sh.stride > 1 {
		positions, windows = (n+sh.stride-1)/sh.stride, (windows+sh.stride-1)/sh.stride
	}
	x.rejected[byItemEnd] += positions - windows
	if windows > 0 {
		x.runs = append(x.runs, Run{item, 0, windows})
	}
}

// addItem appends the runs of an item and counts its other positions. rejections may begin
// with those of the item; it has none of items before it.
func (x *builder) addItem(item int64, e extent, rejections []rejection) {
	p := x.subset.base.shape.positions(x.subset.base.table.length(item), e.a, e.b)
	l := x.subset.limits(&p, e)
	x.reject(&p, l.from, l.to, l.fitFrom, l.fitTo)
	from, to := max(l.from, l.fitFrom), min(l.to, l.fitTo)
	if from >= to {
		return
	}
	k := from
	for _, r := range rejections {
		if r.item != item || r.from >= to {
			break
		}
		if r.to <= k {
			continue
		}
		x.addAllowed(item, &p, k, r.from, l.first, l.last)
		k = max(k, r.from)
		x.rejected[r.reason] += min(r.to, to) - k
		k = r.to
	}
	x.addAllowed(item, &p, k, to, l.first, l.last)
}

// reject counts the positions in [from, to) that are not in [fits, ends).
func (x *builder) reject(p *positions, from, to, fits, ends int64) {
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

// addAllowed appends the positions in [from, to) that are in [first, last) as a run, and counts the
// others as rejected by the split.
func (x *builder) addAllowed(item int64, p *positions, from, to, first, last int64) {
	if from >= to {
		return
	}
	lo, hi := max(from, first), min(to, last)
	if lo >= hi {
		x.rejected[bySplit] += to - from
		return
	}
	x.rejected[bySplit] += to - from - (hi - lo)
	x.runs = append(x.runs, Run{item, p.start(lo), hi - lo})
}
