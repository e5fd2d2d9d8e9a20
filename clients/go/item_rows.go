package tensorcache

import (
	"sort"

	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/window"
)

// source says where the windows of a spec lie in their dataset: what daemon and batches do not
// carry along.
type itemRows struct {
	data        *Dataset
	spec        window.Spec
	offsets     []int64
	fromTime    int64 // the first admitted moment, where bounded
	hasFromTime bool  // by time
}

func newItemRows(d *Dataset, spec window.Spec) (*itemRows, error) {
	s := &itemRows{data: d, spec: spec, offsets: d.offsets}
	if t := spec.Time; t != nil && t.From != nil {
		c, err := d.column(d.data.Manifest.Time)
		if err != nil {
			return nil, err
		}
		s.hasFromTime = true
		if s.fromTime, err = t.From.In("time", c.Unit); err != nil {
			return nil, ours(err)
		}
	}
	return s, nil
}

// times is the time column; ok is false where there is none. The caller holds the maps.
func (s *itemRows) times() (times layout.Strided[int64], ok bool, err error) {
	name := s.data.data.Manifest.Time
	if name == "" {
		return times, false, nil
	}
	c, err := s.data.column(name)
	if err != nil {
		return times, false, err
	}
	times, err = view[int64](s.data.data, c)
	return times, err == nil, err
}

// firstRow is the first row of an item that the spec admits: before it is padding.
func (s *itemRows) firstRow(item int64, times layout.Strided[int64]) int64 {
	from, to := s.offsets[item], s.offsets[item+1]
	n := to - from
	switch b := s.spec.Rows; {
	case b != nil && b.From != nil && *b.From < 0:
		return max(0, n+*b.From)
	case b != nil && b.From != nil:
		return min(*b.From, n)
	case s.hasFromTime:
		return int64(
			sort.Search(int(n),
				func(i int) bool { return times.Row(from + int64(i))[0] >= s.fromTime }))
	}
	return 0
}

// timesOf are the times of the first real rows of windows.
func (s *itemRows) timesOf(items, starts []int64) ([]int64, error) {
	release, err := s.data.acquire()
	if err != nil {
		return nil, err
	}
	defer release()
	times, ok, err := s.times()
	if err != nil || !ok {
		return nil, err
	}
	out := make([]int64, len(items))
	for i, item := range items {
		out[i] = times.Row(s.offsets[item] + max(starts[i], s.firstRow(item, times)))[0]
	}
	return out, nil
}
