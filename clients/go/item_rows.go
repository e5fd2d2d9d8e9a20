package tensorcache

import (
	"sort"

	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/window"
)

// itemRows finds rows and times of items: what daemon and batches do not report.
type itemRows struct {
	data        *Dataset
	spec        window.Spec
	offsets     []int64 // Dataset.offsets
	fromTime    int64   // the spec's first time, in the unit of the time column
	hasFromTime bool
}

func newItemRows(d *Dataset, spec window.Spec) (*itemRows, error) {
	r := &itemRows{data: d, spec: spec, offsets: d.offsets}
	if t := spec.Time; t != nil && t.From != nil {
		c, err := d.column(d.data.Manifest.Time)
		if err != nil {
			return nil, err
		}
		r.hasFromTime = true
		if r.fromTime, err = t.From.In("time", c.Unit); err != nil {
			return nil, clientError(err)
		}
	}
	return r, nil
}

// times returns the time column; ok is false if there is none. The caller keeps it mapped.
func (r *itemRows) times() (times layout.Strided[int64], ok bool, err error) {
	name := r.data.data.Manifest.Time
	if name == "" {
		return times, false, nil
	}
	c, err := r.data.column(name)
	if err != nil {
		return times, false, err
	}
	times, err = view[int64](r.data.data, c)
	return times, err == nil, err
}

// firstRow returns an item's first row inside the spec's bounds, counted from the item's first row.
// Rows of a window before it are padding.
func (r *itemRows) firstRow(item int64, times layout.Strided[int64]) int64 {
	from, to := r.offsets[item], r.offsets[item+1]
	n := to - from
	switch b := r.spec.Rows; {
	case b != nil && b.From != nil && *b.From < 0:
		return max(0, n+*b.From)
	case b != nil && b.From != nil:
		return min(*b.From, n)
	case r.hasFromTime:
		return int64(
			sort.Search(int(n),
				func(i int) bool { return times.Row(from + int64(i))[0] >= r.fromTime }))
	}
	return 0
}

// timesOf returns the times of the first real rows of windows.
func (r *itemRows) timesOf(items, starts []int64) ([]int64, error) {
	release, err := r.data.acquire()
	if err != nil {
		return nil, err
	}
	defer release()
	times, ok, err := r.times()
	if err != nil || !ok {
		return nil, err
	}
	out := make([]int64, len(items))
	for i, item := range items {
		out[i] = times.Row(r.offsets[item] + max(starts[i], r.firstRow(item, times)))[0]
	}
	return out, nil
}
