package ingest

import (
	"cmp"
	"context"
	"slices"

	"github.com/tensorcache/tensorcache/layout"
)

// sort orders the rows of the map by item, in the order of the items' first rows, and time; rows that are equal stay as they are.
// It takes 16 bytes a row of scratch.
func (l *load) sort(ctx context.Context, k *keys, m *rowMap) error {
	s, err := newScratch(l.dir, layout.Table{Rows: m.rows, Columns: []layout.Column{{Name: "item", DType: layout.Int64}}})
	if err != nil {
		return err
	}
	defer s.close()
	item := layout.Values[int64](s.Dest(0)).Data
	counts, sorted := numberRows(k, m, item)
	if sorted {
		return nil
	}
	ends := make([]int64, len(counts))
	return m.replace(m.rows, func(from []int64) error {
		var end int64
		for i, n := range counts {
			ends[i], end = end, end+n
		}
		for row, n := range item {
			from[ends[n]] = m.at(int64(row))
			ends[n]++
		}
		if k.time == nil {
			return nil
		}
		return parallel(ctx, l.workers, len(counts), "", func(_, i int) error {
			slices.SortFunc(from[ends[i]-counts[i]:ends[i]], func(a, b int64) int {
				return cmp.Or(cmp.Compare(k.when(a), k.when(b)), cmp.Compare(a, b))
			})
			return nil
		})
	})
}

// numberRows fills item with the number of each row's item and counts their rows. It tells whether the rows are in order already.
func numberRows(k *keys, m *rowMap, item []int64) (counts []int64, sorted bool) {
	seen := newNumbering(len(k.at))
	sorted = true
	for row := range m.rows {
		n, at, before := int64(0), m.at(row), int64(0)
		if row > 0 {
			before = m.at(row - 1)
		}
		if row > 0 && k.same(before, at) {
			n = item[row-1]
		} else if len(k.at) > 0 {
			n, _ = seen.number(k, at)
		}
		item[row] = n
		if n == int64(len(counts)) {
			counts = append(counts, 0)
		}
		counts[n]++
		if row > 0 && (n < item[row-1] || n == item[row-1] && k.time != nil && k.when(at) < k.when(before)) {
			sorted = false
		}
	}
	return counts, sorted
}
