package window

import (
	"fmt"
	"slices"
)

// subset is a base and the cuts that narrow it: it says which positions of each item belong to an
// index. It is immutable.
type subset struct {
	base    *base
	cuts    []Cut
	filters []filter // the cuts, in their order, without Latest
	// context is the base of windows that consist of a context alone. It is nil unless the last cut
	// is Latest.
	context *base
}

// extent is the range of an item's rows that a subset contains.
type extent struct {
	a, b    int64 // rows that the spec admits
	lo, hi  int64 // rows that may be prediction rows
	context int64 // first row that may be a context row
	bounded bool  // cut by rows or time: the subset has positions with partRow in [lo, hi) only
	absent  bool  // the subset does not contain the item
}

// newSubset applies valid cuts in their order.
func newSubset(b *base, cuts []Cut) (*subset, error) {
	p := &subset{base: b}
	for i, c := range cuts {
		c, err := c.instants(b.table)
		if err != nil {
			return nil, err
		}
		if c.Latest {
			if i+1 < len(cuts) {
				return nil, &SpecError{"cuts", "",
					fmt.Sprintf("latest as the last cut, and not before cut %d", i+1)}
			}
			if p.context, err = b.contextAlone(); err != nil {
				return nil, err
			}
		} else {
			f, err := b.compile(c)
			if err != nil {
				return nil, err
			}
			p.filters = append(p.filters, f)
		}
		p.cuts = append(p.cuts, c.canonical())
	}
	return p, nil
}

// index finds the windows of the subset.
func (p *subset) index() (*Index, error) {
	b := newBuilder(p)
	add := b.addAll
	if p.latest() {
		add = b.addLatest
	}
	if err := add(); err != nil {
		return nil, err
	}
	return &Index{subset: p, runs: newRunList(b.runs, p.base.shape.stride), rejected: b.rejected}, nil
}

// latest reports whether the part has one window of each item, without a target.
func (p *subset) latest() bool { return p.context != nil }

// contains reports whether the part contains an item.
func (p *subset) contains(item int64) bool {
	for _, f := range p.filters {
		if !f.contains(item) {
			return false
		}
	}
	return true
}

// narrowsRows reports whether a cut narrows the rows of items.
func (p *subset) narrowsRows() bool { return slices.ContainsFunc(p.filters, filter.narrowsRows) }

// extent returns the range of an item after all cuts.
func (p *subset) extent(item int64) extent {
	if !p.contains(item) {
		return extent{absent: true}
	}
	a, b := p.base.admitted(item)
	e := extent{a: a, b: b, lo: a, hi: b, context: a}
	for _, f := range p.filters {
		e = f.apply(p.base, item, e)
	}
	return e
}

// itemList is a list of item numbers in ascending order.
type itemList struct {
	list []int64 // nil for all items from 0
	n    int64
}

func (l *itemList) at(i int64) int64 {
	if l.list != nil {
		return l.list[i]
	}
	return i
}

// items returns the items that the part may contain: the shortest list of items in a cut, else all
// items.
func (p *subset) items() itemList {
	l := itemList{n: p.base.table.Items()}
	for _, f := range p.filters {
		var listed []int64
		switch f := f.(type) {
		case *whereFilter:
			listed = f.items
		case *itemSplit:
			listed = f.items
		}
		if listed != nil && int64(len(listed)) <= l.n {
			l = itemList{listed, int64(len(listed))}
		}
	}
	return l
}

// expectedRuns estimates how many of n items have a run. It returns 0 if there is no estimate.
func (p *subset) expectedRuns(n int64) int64 {
	expected := float64(n)
	for _, f := range p.filters {
		if f.narrowsRows() {
			return 0
		}
		if f, ok := f.(*itemSplit); ok && f.hash != nil {
			expected *= min(1, 1.01*max(0, min(1, f.to)-f.from))
		}
	}
	return int64(expected)
}

// limits are ranges of position numbers of an item, half-open.
type limits struct {
	from, to       int64 // positions that belong to the part
	fitFrom, fitTo int64 // positions whose windows use admitted rows only
	first, last    int64 // positions whose windows stay inside the part
}

// limits returns the limits of an item's positions.
func (p *subset) limits(s *positions, e extent) limits {
	sh := &p.base.shape
	l := limits{to: s.count, last: s.count}
	if e.bounded {
		l.from, l.to = s.before(e.lo-sh.partRow), s.before(e.hi-sh.partRow)
		l.to = max(l.from, l.to)
		l.first, l.last = l.from, s.before(e.hi-max(sh.last, sh.partRow))
	}
	if e.context > e.a {
		l.first = max(l.first, s.before(e.context))
	}
	l.fitFrom, l.fitTo = s.before(e.a-s.pad), s.before(e.b-sh.last)
	return l
}

// bytes returns the memory of the part beside its table.
func (p *subset) bytes() int64 {
	n := 32 * int64(cap(p.base.rejections))
	if p.context != nil {
		n += 32 * int64(cap(p.context.rejections))
	}
	return n
}
