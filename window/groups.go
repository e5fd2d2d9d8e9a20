package window

import (
	"fmt"
	"math"
	"slices"
)

// MaxGrouped is the greatest number of windows of an index that can be grouped.
const MaxGrouped = math.MaxUint32

// groupsHeader is the number of words before the window numbers of a group table.
const groupsHeader = 2

// Groups are the windows of an index by time, in ascending order of time. A group is all windows
// whose first prediction row has one time. Of a window without prediction rows (prediction_length =
// 0, or [Index.Latest]) it is the time of the last context row. Groups are immutable and safe for
// concurrent use.
type Groups struct{ windows, starts []uint32 }

// ParseGroups returns the groups of a table made by [Index.GroupTable] for an index of so many
// windows. It uses the table without copying it. The error wraps [ErrTable].
func ParseGroups(table []uint32, windows int64) (Groups, error) {
	if len(table) < groupsHeader || int64(table[0]) != windows ||
		int64(len(table)) != groupsHeader+int64(table[0])+int64(table[1]) {
		return Groups{}, fmt.Errorf("%w: %d words of groups of %d windows", ErrTable, len(table),
			windows)
	}
	g := Groups{table[groupsHeader:][:windows], table[groupsHeader+windows:]}
	if windows > 0 && (len(g.starts) == 0 || g.starts[0] != 0) {
		return Groups{}, fmt.Errorf("%w: the first group does not begin at 0", ErrTable)
	}
	for i, start := range g.starts {
		if int64(start) >= windows || i > 0 && start <= g.starts[i-1] {
			return Groups{}, fmt.Errorf("%w: group %d of %d windows begins at %d", ErrTable, i,
				windows, start)
		}
	}
	return g, nil
}

// GroupCount returns the number of groups.
func (g Groups) GroupCount() int64 { return int64(len(g.starts)) }

// Group returns the numbers of the windows of a group, in ascending order: by item, then by start.
// Do not change the slice.
func (g Groups) Group(i int64) []uint32 {
	if i+1 < int64(len(g.starts)) {
		return g.windows[g.starts[i]:g.starts[i+1]]
	}
	return g.windows[g.starts[i]:]
}

// GroupTable returns the table of the groups of the windows: the number of windows, the number of
// groups, the windows by group, and the offset among them at which each group begins. It takes at
// most 8 bytes a window, and 24 more for each distinct time while it is made. The error is a
// [SpecError] of the field "order" if there are no times or more than [MaxGrouped] windows.
func (x *Index) GroupTable() ([]uint32, error) {
	t := &x.subset.base.table
	if t.Times == nil {
		return nil, noTimes("order", "")
	}
	n := x.Len()
	if n > MaxGrouped {
		return nil, &SpecError{"order", "", fmt.Sprintf(
			"at most %d windows for an order of groups, not %d", int64(MaxGrouped), n)}
	}
	times := x.distinctTimes()
	table := make([]uint32, groupsHeader+n+int64(len(times)))
	table[0], table[1] = uint32(n), uint32(len(times))
	windows, starts := table[groupsHeader:][:n], table[groupsHeader+n:]
	next := make([]uint32, len(times)) // for each group where its next window is written
	x.eachGroup(times, func(_ int64, group int) { next[group]++ })
	sum := uint32(0)
	for i, count := range next {
		starts[i], next[i] = sum, sum
		sum += count
	}
	x.eachGroup(times, func(window int64, group int) {
		windows[next[group]] = uint32(window)
		next[group]++
	})
	return table, nil
}

// groupRow returns the row of a window, counted from its start, whose time is that of its group.
func (x *Index) groupRow() int64 {
	sh := &x.subset.base.shape
	if x.IsLatest() { // the prediction rows need not exist
		return (sh.context - 1) * sh.dilation
	}
	return sh.partRow
}

// eachRun calls f with each run, times of its item, and the number of its first window. Element
// k·stride of the times is the time of the group of the run's window k.
func (x *Index) eachRun(f func(r *Run, times []int64, first int64)) {
	t, row := &x.subset.base.table, x.groupRow()
	for i := range x.runs.list {
		r := &x.runs.list[i]
		f(r, t.times(r.Item)[r.First+row:], x.runs.firstNumber(i))
	}
}

// eachGroup calls f with each window and its group: the place of its time among the distinct times.
func (x *Index) eachGroup(times []int64, f func(window int64, group int)) {
	stride := x.runs.stride
	x.eachRun(func(r *Run, of []int64, first int64) {
		group := 0
		for k := range r.Count {
			group = advance(times, group, of[k*stride])
			f(first+k, group)
		}
	})
}

// advance returns the first place from i on whose time is not below t. It is fast if that is near.
func advance(times []int64, i int, t int64) int {
	step := 1
	for i+step < len(times) && times[i+step] < t {
		i += step
		step *= 2
	}
	end := min(i+step+1, len(times))
	at, _ := slices.BinarySearch(times[i:end], t)
	return i + at
}

// pendingTimes is the least number of times that distinctTimes collects before it merges them.
const pendingTimes = 1 << 14

// distinctTimes returns the times of all groups, in ascending order. Items mostly have the same
// times. So each item's times are looked up among those that are known, and the unknown ones are
// merged when there are as many as known ones.
func (x *Index) distinctTimes() (known []int64) {
	var unknown []int64
	stride := x.runs.stride
	x.eachRun(func(r *Run, of []int64, _ int64) {
		at := 0
		for k := range r.Count {
			t := of[k*stride]
			if at = advance(known, at, t); at == len(known) || known[at] != t {
				unknown = append(unknown, t)
			}
		}
		if len(unknown) >= max(pendingTimes, len(known)) {
			known, unknown = union(known, unknown), nil
		}
	})
	return union(known, unknown)
}

// union returns the distinct times of both, in ascending order. a is ascending and distinct. b has
// none of the times of a; union takes it over.
func union(a, b []int64) []int64 {
	slices.Sort(b)
	b = slices.Compact(b)
	if len(a) == 0 {
		return b
	}
	out := make([]int64, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
