package sampler

// itemWindows is the range of window numbers of an item.
type itemWindows struct{ item, first, count int64 }

// itemsOf returns the items that have windows, in item order.
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

// firstAbove returns the index of the first of the ascending sums that exceeds v, or the last
// index.
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
