package window

// Run is a list of consecutive windows of one item: Count windows, the first of which starts at row
// First, each one stride after the one before.
type Run struct {
	Item, First, Count int64
}

// Place is where a window is: its item, and its start, which is the item's row of its first context
// row. The start of a padded window is before the first row that windows may use.
type Place struct {
	Item, Start int64
}

// runList numbers the windows of runs, which are in ascending order of item and start.
type runList struct {
	list   []Run
	ends   []int64 // ends[i] is the number of windows in list[:i+1]
	stride int64
}

// newRunList returns the list of runs. It copies the runs if they use much less memory than they
// have reserved.
func newRunList(runs []Run, stride int64) runList {
	if len(runs) < cap(runs)/8*7 {
		runs = append(make([]Run, 0, len(runs)), runs...)
	}
	l := runList{list: runs, ends: make([]int64, len(runs)), stride: stride}
	sum := int64(0)
	for i := range runs {
		sum += runs[i].Count
		l.ends[i] = sum
	}
	return l
}

// bytes returns the memory of the list.
func (l *runList) bytes() int64 { return 24*int64(cap(l.list)) + 8*int64(cap(l.ends)) }

// windows returns the number of windows.
func (l *runList) windows() int64 {
	if len(l.ends) == 0 {
		return 0
	}
	return l.ends[len(l.ends)-1]
}

// firstNumber returns the number of the first window of run i.
func (l *runList) firstNumber(i int) int64 { return l.ends[i] - l.list[i].Count }

// place returns where window n is, which is in run i.
func (l *runList) place(i int, n int64) Place {
	r := &l.list[i]
	return Place{r.Item, r.First + (n-l.ends[i]+r.Count)*l.stride}
}

// find returns the run that contains window n. It panics unless 0 ≤ n < windows.
func (l *runList) find(n int64) int {
	if n < 0 || n >= l.windows() {
		panic("window: number out of range")
	}
	lo, hi := 0, len(l.ends)-1
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if l.ends[mid] <= n {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// contains reports whether run i contains window n.
func (l *runList) contains(i int, n int64) bool {
	return n < l.ends[i] && n >= l.ends[i]-l.list[i].Count
}

// findFrom is find that looks at run i first, if there is one.
func (l *runList) findFrom(n int64, i int) int {
	if i < len(l.ends) && l.contains(i, n) {
		return i
	}
	return l.find(n)
}

// number returns the number of the window at a place; ok is false if there is none.
func (l *runList) number(p Place) (n int64, ok bool) {
	i := l.search(p.Item, p.Start+1) - 1
	if i < 0 || l.list[i].Item != p.Item {
		return 0, false
	}
	r := &l.list[i]
	off := p.Start - r.First
	if off < 0 || off%l.stride != 0 || off/l.stride >= r.Count {
		return 0, false
	}
	return l.ends[i] - r.Count + off/l.stride, true
}

// search returns the first run at or after row start of an item.
func (l *runList) search(item, start int64) int {
	lo, hi := 0, len(l.list)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if r := &l.list[mid]; r.Item < item || r.Item == item && r.First < start {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// before returns the number of windows of all items before this one.
func (l *runList) before(item int64) int64 {
	i := l.search(item, -maxLength)
	if i == 0 {
		return 0
	}
	return l.ends[i-1]
}
