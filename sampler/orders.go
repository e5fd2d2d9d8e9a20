package sampler

import "slices"

// epochOrder is what is drawn for one epoch.
type epochOrder struct {
	ready       bool
	epoch       uint64
	key         uint64
	permutation permutation

	// random_start
	blocks []int64 // blocks[j] is the number of blocks in runs[:j+1]
	phases uint64

	// lanes
	rotation int64
	order    []int   // of items
	ends     []int64 // ends[i] is the number of windows of the first i+1 items in order

	// drawn once
	items []itemWindows // with windows, in item order
	sums  []float64     // running sums of their weights
}

// itemWindows are the numbers of an item's windows.
type itemWindows struct{ item, first, count int64 }

// prepare makes what does not change from epoch to epoch.
func (s *Sampler) prepare() error {
	if s.options.Order == Lanes || s.options.Weights != nil {
		s.epoch.items = itemsOf(s.windows)
	}
	if s.options.Weights != nil {
		return s.prepareWeights()
	}
	return nil
}

func itemsOf(x Windows) []itemWindows {
	n, last := 0, int64(-1)
	for i := range x.RunCount() {
		if item, _, _ := x.RunAt(i); item != last {
			n, last = n+1, item
		}
	}
	items := make([]itemWindows, 0, n)
	for i := range x.RunCount() {
		item, first, count := x.RunAt(i)
		if n := len(items); n > 0 && items[n-1].item == item {
			items[n-1].count += count
			continue
		}
		items = append(items, itemWindows{item, first, count})
	}
	return items
}

// ready draws what the epoch needs.
func (s *Sampler) ready(epoch uint64) {
	e := &s.epoch
	if e.ready && e.epoch == epoch {
		return
	}
	e.ready, e.epoch = true, epoch
	seed := s.options.Seed
	switch s.options.Order {
	case Shuffle:
		e.permutation = newPermutation(epochKey(seed, epoch, forShuffle), uint64(s.n))
	case Bootstrap:
		e.key = epochKey(seed, epoch, forBootstrap)
	case RandomStart:
		s.drawBlocks(epoch)
	case Lanes:
		s.drawLanes(epoch)
	}
}

// append adds the window, or the block of windows, at a position.
func (s *Sampler) append(dst *Batch, p int64) {
	switch s.options.Order {
	case Bootstrap:
		dst.Windows = append(dst.Windows, s.drawn(uint64(p)))
	case RandomStart:
		first, count := s.block(p)
		dst.Windows = appendInTurn(dst.Windows, first, count, s.n)
	case Lanes:
		dst.Windows = append(dst.Windows, s.lane(p))
	}
}

// appendInTurn adds count numbers from first on; after n-1 comes 0.
func appendInTurn(dst []int64, first, count, n int64) []int64 {
	dst = slices.Grow(dst, int(count))
	for count > 0 {
		first %= n
		m := min(count, n-first)
		at := len(dst)
		dst = dst[:at+int(m)]
		for i := range dst[at:] {
			dst[at+i] = first + int64(i)
		}
		first, count = first+m, count-m
	}
	return dst
}

// firstAbove is the first of the ascending sums that exceeds v.
func firstAbove[T int64 | float64](sums []T, v T) int {
	lo, hi := 0, len(sums)-1
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if sums[mid] <= v {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
