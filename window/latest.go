package window

import "fmt"

// contextAlone returns the base of windows that consist of a context alone.
func (b *base) contextAlone() (*base, error) {
	sh := b.shape
	sh.total, sh.target, sh.stride, sh.fromEnd = sh.context, sh.context, 1, false
	sh.last = (sh.context - 1) * sh.dilation
	sh.pad = min(sh.pad, sh.last)
	context := &base{spec: b.spec, shape: sh, table: b.table, time: b.time, maxStep: b.maxStep}
	context.table.Columns = nil
	for _, c := range b.table.Columns {
		if c.Context {
			c.Target = false
			context.table.Columns = append(context.table.Columns, c)
		}
	}
	return context, context.findRejections()
}

// addLatest adds the one window of each item. The positions of the index are the items.
func (x *builder) addLatest() error {
	b, latest := x.subset.base, newLatestFinder(x.subset)
	rejections := x.subset.context.rejections
	for i := range x.items.n {
		item := x.items.at(i)
		e := x.subset.extent(item)
		if e.absent {
			continue
		}
		for len(rejections) > 0 && rejections[0].item < item {
			rejections = rejections[1:]
		}
		start, reason, ok := latest.find(item, e, rejections)
		if !ok {
			continue
		}
		if reason != isWindow {
			x.rejected[reason]++
			continue
		}
		last, needed := start+b.shape.last, len(b.spec.KnownColumns) > 0 && !b.table.KnownAfter
		if needed && last >= e.b {
			return &SpecError{"known_columns", "", fmt.Sprintf(
				"rows of %s up to %d, not %d: latest delivers the known columns of the "+
					"prediction rows", b.table.name(item), last+1, e.b)}
		}
		x.runs = append(x.runs, Run{item, start, 1})
	}
	return nil
}

// latestFinder finds the latest position of items, which it is asked for in ascending order.
type latestFinder struct {
	part    *subset
	targets []Column
	skip    []int // per target column: number of missing rows already passed
}

func newLatestFinder(p *subset) *latestFinder {
	f := &latestFinder{part: p}
	for _, c := range p.base.table.Columns {
		if c.Target {
			f.targets = append(f.targets, c)
		}
	}
	f.skip = make([]int, len(f.targets))
	return f
}

// find returns the start of an item's latest position and the reason that rejects it, or isWindow.
// ok is false if the item has no such position. rejections may begin with those of the item; it
// has none of items before it.
func (f *latestFinder) find(item int64, e extent, rejections []rejection) (start int64, reason int,
	ok bool) {
	end := f.targetEnd(item, e.hi)
	if end <= e.lo {
		return 0, 0, false
	}
	context := f.part.context
	start = end - 1 - context.shape.last
	p := context.shape.positions(context.table.length(item), e.a, e.b)
	switch {
	case start < e.a-p.pad && e.a > 0:
		return start, byBounds, true
	case start < e.a-p.pad:
		return start, byItemEnd, true
	}
	reason = rejectedBy(rejections, item, p.before(start))
	if reason == isWindow && e.context > e.a && start < e.context {
		reason = bySplit
	}
	return start, reason, true
}

// targetEnd returns the row after the item's last row before row end with a value in a target
// column. It returns end if there are no target columns.
func (f *latestFinder) targetEnd(item, end int64) int64 {
	if len(f.targets) == 0 {
		return end
	}
	offset, last := f.part.base.table.Offsets[item], int64(0)
	for i, c := range f.targets {
		f.skip[i] += firstMissing(c.Missing[f.skip[i]:], offset+end)
		row := end
		for j := f.skip[i] - 1; j >= 0 && row > 0 &&
			c.Missing[j] == (MissingRow{offset + row - 1, c.Cells}); j-- {
			row--
		}
		last = max(last, row)
	}
	return last
}
