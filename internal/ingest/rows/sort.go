package rows

import (
	"cmp"
	"context"
	"slices"
	"unsafe"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/layout"
)

// Sort orders the rows of the map by item, in the order of the items' first rows, and then by time.
// The sort is stable. It calls report, from several goroutines, with the number of rows that it
// processed since; the sum is at most three times the number of rows.
//
// Sort takes at most 24 bytes per row in scratch files: 16 bytes for the rows with their times, and
// 8 bytes for the item numbers or, later, for the new map.
func Sort(ctx context.Context, workers int, k *Keys, m *Map, report func(rows int64)) error {
	s, err := column.NewScratch(m.Dir, layout.Table{
		Rows: m.Rows, Columns: []layout.Column{{Name: "item", DType: layout.Int64}},
	})
	if err != nil {
		return err
	}
	defer func() { s.Close() }() // evaluates s at the end: it may be nil
	item := layout.Values[int64](s.Column(0, layout.Random)).Data
	counts, sorted := numberRows(k, m, item, report)
	if sorted {
		return nil
	}
	if k.Time == nil {
		return m.Replace(m.Rows, func(from []int64) error {
			distribute(counts, item, func(at, row int64) { from[at] = m.At(row) })
			return nil
		})
	}
	pairs, err := column.NewScratch(m.Dir, layout.Table{
		Rows: m.Rows, Columns: []layout.Column{{Name: "pair", DType: layout.Int64, Width: 2}},
	})
	if err != nil {
		return err
	}
	defer pairs.Close()
	times := layout.Values[int64](pairs.Column(0, layout.Random)).Data
	timed := unsafe.Slice((*timedRow)(unsafe.Pointer(unsafe.SliceData(times))), m.Rows)
	ends := distribute(counts, item,
		func(at, row int64) { timed[at] = timedRow{k.TimeOf(m.At(row)), m.At(row)} })
	report(m.Rows)
	if err := s.Close(); err != nil {
		return err
	}
	s = nil
	err = parallel.For(ctx, workers, len(counts), "", func(_, i int) error {
		slices.SortFunc(timed[ends[i]-counts[i]:ends[i]], timedRow.compare)
		report(counts[i])
		return nil
	})
	if err != nil {
		return err
	}
	return m.Replace(m.Rows, func(from []int64) error {
		for i, r := range timed {
			from[i] = r.row
		}
		return nil
	})
}

// timedRow is a source row together with its time, so that a comparison of two rows does not load
// the time column and causes no cache miss.
type timedRow struct{ time, row int64 }

func (r timedRow) compare(o timedRow) int {
	if r.time != o.time {
		return cmp.Compare(r.time, o.time)
	}
	return cmp.Compare(r.row, o.row)
}

// distribute calls store with the position of each row when rows are grouped by item, as a counting
// sort does. Rows of an item stay in their order. It returns the end of each item.
func distribute(counts, item []int64, store func(at, row int64)) (ends []int64) {
	ends = make([]int64, len(counts))
	var end int64
	for i, n := range counts {
		ends[i], end = end, end+n
	}
	for row, n := range item {
		store(ends[n], int64(row))
		ends[n]++
	}
	return ends
}

// numberRows sets item to the item number of each row and counts the rows of each item. sorted
// reports whether the rows are already in order. numberRows calls report for each block of rows.
func numberRows(k *Keys, m *Map, item []int64, report func(rows int64)) (counts []int64,
	sorted bool) {
	const block = 1 << 16
	seen := newNumbering(len(k.Columns))
	sorted = true
	for row := range m.Rows {
		n, at, before := int64(0), m.At(row), int64(0)
		if row > 0 {
			before = m.At(row - 1)
		}
		if row > 0 && k.same(before, at) {
			n = item[row-1]
		} else if len(k.Columns) > 0 {
			n, _ = seen.number(k, at)
		}
		item[row] = n
		if n == int64(len(counts)) {
			counts = append(counts, 0)
		}
		counts[n]++
		if row%block == block-1 {
			report(block)
		}
		if row > 0 && (n < item[row-1] || n == item[row-1] && k.Time != nil &&
			k.TimeOf(at) < k.TimeOf(before)) {
			sorted = false
		}
	}
	return counts, sorted
}
