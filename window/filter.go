package window

import (
	"fmt"
	"slices"
	"strconv"
)

// narrowWhere keeps rows and items.
type narrowWhere struct {
	rows    *Bounds
	time    *TimeBounds
	span    timeRange
	items   []int64 // ascending; nil keeps all
	bounded bool
	context bool // may reach back
}

func (b *base) compileWhere(w Where) (narrower, error) {
	n := &narrowWhere{rows: w.Rows, context: onlyFalse(w.ContextBeforeSplit) == nil}
	n.bounded = !w.Rows.open() || !w.Time.open()
	if !w.Time.open() {
		if b.table.Times == nil {
			return nil, noTimes("time", w.Time.String())
		}
		var err error
		if n.span, err = w.Time.in("time", b.table.Unit); err != nil {
			return nil, err
		}
		n.time = w.Time
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

func (n *narrowWhere) keeps(item int64) bool { return n.items == nil || among(n.items, item) }

func among(items []int64, item int64) bool {
	_, found := slices.BinarySearch(items, item)
	return found
}

func (n *narrowWhere) rowwise() bool { return n.bounded }

func (n *narrowWhere) narrow(b *base, item int64, e extent) extent {
	from, to := n.rows.resolve(b.table.length(item))
	e = e.cut(from, to)
	if n.time != nil {
		e = e.cut(n.span.rows(b.table.times(item)))
	}
	e.bounded = e.bounded || n.bounded
	if !n.context {
		e.context = max(e.context, e.lo)
	}
	return e
}

// cut keeps the rows [from, to).
func (e extent) cut(from, to int64) extent {
	e.lo = max(e.lo, from)
	e.hi = max(e.lo, min(e.hi, to))
	return e
}

// narrowRows keeps one part of each item's rows.
type narrowRows struct {
	split   Split
	part    int
	rest    int      // the part that takes what the others leave; −1 for none
	times   []moment // of AtTimes
	context bool
}

func (b *base) compileSplit(s Split, part int) (narrower, error) {
	if s.Items != nil {
		return b.compileItems(s, part)
	}
	n := &narrowRows{split: s, part: part, rest: -1,
		context: onlyFalse(s.ContextBeforeSplit) == nil}
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

// restOf is the fraction that takes the rest: the one that is nil, else the last.
func restOf(fractions []*float64) int {
	if i := slices.Index(fractions, nil); i >= 0 {
		return i
	}
	return len(fractions) - 1
}

func (n *narrowRows) keeps(int64) bool { return true }

func (n *narrowRows) rowwise() bool { return true }

func (n *narrowRows) narrow(b *base, item int64, e extent) extent {
	from, to := e.lo, e.hi
	if n.times != nil {
		times := b.table.times(item)
		if n.part > 0 {
			from = n.times[n.part-1].row(times)
		}
		if n.part < len(n.times) {
			to = n.times[n.part].row(times)
		}
	} else {
		from, to = n.share(e.lo, e.hi)
	}
	if n.part+1 < n.parts() {
		to = max(from, to-n.split.Purge)
	}
	e = e.cut(from, to)
	e.bounded = true
	if !n.context {
		e.context = max(e.context, e.lo)
	}
	return e
}

func (n *narrowRows) parts() int {
	return max(len(n.split.Lengths), len(n.split.Fractions), len(n.times)+1)
}

// share is this part's share of the rows [lo, hi), by lengths or fractions.
func (n *narrowRows) share(lo, hi int64) (from, to int64) {
	rows := hi - lo
	taken := int64(0) // by all but the rest
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

func (n *narrowRows) length(part int, rows int64) int64 {
	if n.split.Lengths != nil {
		return *n.split.Lengths[part]
	}
	return floorShare(rows, *n.split.Fractions[part])
}

// narrowItems keeps whole items.
type narrowItems struct {
	items    []int64 // ascending; for lists
	hash     func(item int64) uint64
	from, to float64 // share of the hash
	context  bool
}

func (b *base) compileItems(s Split, part int) (narrower, error) {
	n := &narrowItems{context: onlyFalse(s.ContextBeforeSplit) == nil}
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
		n.to = 2 // whatever the sums round to
	}
	return n, nil
}

func (n *narrowItems) keeps(item int64) bool {
	if n.hash == nil {
		return among(n.items, item)
	}
	u := float64(n.hash(item)>>11) * 0x1p-53
	return u >= n.from && u < n.to
}

func (n *narrowItems) rowwise() bool { return false }

func (n *narrowItems) narrow(_ *base, _ int64, e extent) extent {
	if !n.context {
		e.context = max(e.context, e.lo)
	}
	return e
}
