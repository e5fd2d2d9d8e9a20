package window

import (
	"fmt"
	"slices"
	"strconv"
)

// filter is a cut that is resolved for a table.
type filter interface {
	// contains reports whether the cut keeps an item.
	contains(item int64) bool
	// narrowsRows reports whether the cut narrows the rows of items it keeps.
	narrowsRows() bool
	// apply narrows the extent of an item that the cut keeps.
	apply(b *base, item int64, e extent) extent
}

// compile resolves a Where or a Split.
func (b *base) compile(c Cut) (filter, error) {
	switch {
	case c.Where != nil:
		return b.compileWhere(*c.Where)
	case c.Split.Items != nil:
		return b.compileItemSplit(*c.Split, c.Part)
	}
	return b.compileRowSplit(*c.Split, c.Part)
}

// whereFilter is a Where.
type whereFilter struct {
	rows          *Bounds
	time          timeRange // if hasTime
	hasTime       bool
	items         []int64 // in ascending order; nil for all items
	contextBefore bool    // as ContextBeforeSplit
}

func (b *base) compileWhere(w Where) (filter, error) {
	n := &whereFilter{rows: w.Rows, contextBefore: trueOrNil(w.ContextBeforeSplit)}
	if !w.Time.open() {
		if b.table.Times == nil {
			return nil, noTimes("time", w.Time.String())
		}
		var err error
		if n.time, err = w.Time.in("time", b.table.Unit); err != nil {
			return nil, err
		}
		n.hasTime = true
	}
	if w.Items != nil {
		if err := b.checkItems("items", w.Items); err != nil {
			return nil, err
		}
		n.items = append([]int64{}, w.Items...)
		slices.Sort(n.items)
		n.items = slices.Compact(n.items)
	}
	return n, nil
}

func (b *base) checkItems(field string, items []int64) error {
	for _, item := range items {
		if item < 0 || item >= b.table.Items() {
			return &SpecError{field, strconv.FormatInt(item, 10),
				fmt.Sprintf("item numbers from 0 to %d", b.table.Items()-1)}
		}
	}
	return nil
}

func (n *whereFilter) contains(item int64) bool {
	return n.items == nil || containsItem(n.items, item)
}

func containsItem(items []int64, item int64) bool {
	_, found := slices.BinarySearch(items, item)
	return found
}

func (n *whereFilter) narrowsRows() bool { return n.hasTime || !n.rows.open() }

func (n *whereFilter) apply(b *base, item int64, e extent) extent {
	from, to := n.rows.resolve(b.table.length(item))
	e = e.cut(from, to)
	if n.hasTime {
		e = e.cut(n.time.rows(b.table.times(item)))
	}
	e.bounded = e.bounded || n.narrowsRows()
	if !n.contextBefore {
		e.context = max(e.context, e.lo)
	}
	return e
}

// cut leaves the rows [from, to) as prediction rows.
func (e extent) cut(from, to int64) extent {
	e.lo = max(e.lo, from)
	e.hi = max(e.lo, min(e.hi, to))
	return e
}

// rowSplit is one part of a Split by lengths, fractions or times.
type rowSplit struct {
	split         Split
	part          int
	rest          int         // the part that takes the rows that the others leave; −1 for none
	times         []timestamp // AtTimes
	contextBefore bool        // as ContextBeforeSplit
}

func (b *base) compileRowSplit(s Split, part int) (filter, error) {
	n := &rowSplit{split: s, part: part, rest: -1, contextBefore: trueOrNil(s.ContextBeforeSplit)}
	for i, l := range s.Lengths {
		if l == nil {
			n.rest = i
		}
	}
	if s.Fractions != nil {
		n.rest = restOf(s.Fractions)
	}
	if s.AtTimes != nil && b.table.Times == nil {
		return nil, noTimes("at_times", s.AtTimes[0].String())
	}
	for i, t := range s.AtTimes {
		field := fmt.Sprintf("at_times[%d]", i)
		m, err := t.in(field, b.table.Unit)
		if err != nil {
			return nil, err
		}
		if i > 0 && m.before(n.times[i-1]) {
			return nil, &SpecError{field, t.String(), "a time after " + s.AtTimes[i-1].String()}
		}
		n.times = append(n.times, m)
	}
	return n, nil
}

// restOf returns the index of the fraction that takes the rest: the one that is nil, otherwise the
// last.
func restOf(fractions []*float64) int {
	if i := slices.Index(fractions, nil); i >= 0 {
		return i
	}
	return len(fractions) - 1
}

func (n *rowSplit) contains(int64) bool { return true }

func (n *rowSplit) narrowsRows() bool { return true }

func (n *rowSplit) apply(b *base, item int64, e extent) extent {
	from, to := e.lo, e.hi
	if n.times != nil {
		times := b.table.times(item)
		if n.part > 0 {
			from = n.times[n.part-1].firstRow(times)
		}
		if n.part < len(n.times) {
			to = n.times[n.part].firstRow(times)
		}
	} else {
		from, to = n.share(e.lo, e.hi)
	}
	if n.part+1 < n.parts() {
		to = max(from, to-n.split.Purge)
	}
	e = e.cut(from, to)
	e.bounded = true
	if !n.contextBefore {
		e.context = max(e.context, e.lo)
	}
	return e
}

func (n *rowSplit) parts() int {
	return max(len(n.split.Lengths), len(n.split.Fractions), len(n.times)+1)
}

// share returns the rows of [lo, hi) that lengths or fractions give to this part.
func (n *rowSplit) share(lo, hi int64) (from, to int64) {
	rows := hi - lo
	taken := int64(0) // rows of all parts except rest
	for i := range n.parts() {
		if i != n.rest {
			taken += min(n.length(i, rows), rows-taken)
		}
	}
	from = lo
	for i := range n.parts() {
		length := rows - taken
		if i != n.rest {
			length = min(n.length(i, rows), hi-from)
		}
		if i == n.part {
			return from, from + length
		}
		from += length
	}
	panic("window: part out of range")
}

func (n *rowSplit) length(part int, rows int64) int64 {
	if n.split.Lengths != nil {
		return *n.split.Lengths[part]
	}
	return floorShare(rows, *n.split.Fractions[part])
}

// itemSplit is one part of a Split by items.
type itemSplit struct {
	items         []int64                 // in ascending order, if the split has lists
	hash          func(item int64) uint64 // if the split has fractions
	from, to      float64                 // range of hashes, as fractions of all hashes
	contextBefore bool                    // as ContextBeforeSplit
}

func (b *base) compileItemSplit(s Split, part int) (filter, error) {
	n := &itemSplit{contextBefore: trueOrNil(s.ContextBeforeSplit)}
	if s.Items.Lists != nil {
		for _, list := range s.Items.Lists {
			if err := b.checkItems("items", list); err != nil {
				return nil, err
			}
		}
		n.items = append([]int64{}, s.Items.Lists[part]...)
		slices.Sort(n.items)
		return n, nil
	}
	if b.table.ItemHash == nil {
		return nil, &SpecError{"items", mustJSON(s.Items), "lists of items: this table hashes none"}
	}
	n.hash = b.table.ItemHash
	rest, others := restOf(s.Items.Fractions), 0.0
	for i, f := range s.Items.Fractions {
		if i != rest {
			others += *f
		}
	}
	for i, f := range s.Items.Fractions {
		n.from = n.to
		if i == rest {
			n.to += max(0, 1-others)
		} else {
			n.to += *f
		}
		if i == part {
			break
		}
	}
	if part == len(s.Items.Fractions)-1 {
		n.to = 2 // above all fractions, whatever the sum rounds to
	}
	return n, nil
}

func (n *itemSplit) contains(item int64) bool {
	if n.hash == nil {
		return containsItem(n.items, item)
	}
	u := float64(n.hash(item)>>11) * 0x1p-53
	return u >= n.from && u < n.to
}

func (n *itemSplit) narrowsRows() bool { return false }

func (n *itemSplit) apply(_ *base, _ int64, e extent) extent {
	if !n.contextBefore {
		e.context = max(e.context, e.lo)
	}
	return e
}
