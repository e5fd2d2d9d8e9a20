package ingest

import (
	"cmp"
	"context"
	"slices"

	"github.com/tensorcache/tensorcache/layout"
)

// sort orders the rows by item, in the order of the items' first rows, and time; rows that are equal stay as they are.
// It takes 16 bytes a row and one column of scratch.
func (l *load) sort(ctx context.Context, k *keys) error {
	order, err := newScratch(l.dir, layout.Table{Rows: l.rows, Columns: []layout.Column{
		{Name: "from", DType: layout.Int64}, {Name: "item", DType: layout.Int64},
	}})
	if err != nil {
		return err
	}
	defer order.close()
	from := layout.Values[int64](order.Dest(0)).Data
	if sorted := arrange(k, from, layout.Values[int64](order.Dest(1)).Data); sorted {
		return nil
	}
	for i := range l.columns {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.apply(ctx, l.dest(i), from); err != nil {
			return err
		}
	}
	return nil
}

// arrange fills from with the rows in their new order, and tells whether that is the old one.
func arrange(k *keys, from, item []int64) (sorted bool) {
	seen := newNumbering(len(k.at))
	var counts []int64
	sorted = true
	for row := range k.rows {
		n := int64(0)
		if row > 0 && k.same(row-1, row) {
			n = item[row-1]
		} else if len(k.at) > 0 {
			n, _ = seen.number(k, row)
		}
		item[row] = n
		if n == int64(len(counts)) {
			counts = append(counts, 0)
		}
		counts[n]++
		if row > 0 && (n < item[row-1] || n == item[row-1] && k.time != nil && k.time.Data[row*k.time.Step] < k.time.Data[(row-1)*k.time.Step]) {
			sorted = false
		}
	}
	if sorted {
		return true
	}
	ends := make([]int64, len(counts))
	var end int64
	for i, n := range counts {
		ends[i], end = end, end+n
	}
	for row, n := range item {
		from[ends[n]] = int64(row)
		ends[n]++
	}
	if k.time == nil {
		return false
	}
	for i, n := range counts {
		rows := from[ends[i]-n : ends[i]]
		slices.SortFunc(rows, func(a, b int64) int {
			return cmp.Or(cmp.Compare(k.time.Data[a*k.time.Step], k.time.Data[b*k.time.Step]), cmp.Compare(a, b))
		})
	}
	return false
}

// apply moves the rows of one column by way of a column of scratch.
func (l *load) apply(ctx context.Context, d layout.Dest, from []int64) error {
	c := d.Column
	c.Role = layout.RoleItemID // plain, never packed
	s, err := newScratch(l.dir, layout.Table{Rows: d.Rows, Columns: []layout.Column{c}})
	if err != nil {
		return err
	}
	defer s.close()
	switch to := s.Dest(0); d.DType.Size() {
	case 1:
		return gather(ctx, l.workers, layout.Values[uint8](d), layout.Values[uint8](to), from)
	case 2:
		return gather(ctx, l.workers, layout.Values[int16](d), layout.Values[int16](to), from)
	case 4:
		return gather(ctx, l.workers, layout.Values[int32](d), layout.Values[int32](to), from)
	default:
		return gather(ctx, l.workers, layout.Values[int64](d), layout.Values[int64](to), from)
	}
}

// gather puts rows from[0], from[1], … into the spare column and copies them back.
func gather[T layout.Native](ctx context.Context, workers int, d, spare layout.Strided[T], from []int64) error {
	const block = 1 << 16
	tasks := int((d.Rows + block - 1) / block)
	each := func(move func(row int64)) error {
		return parallel(ctx, workers, tasks, "", func(_, i int) error {
			for row := int64(i) * block; row < min(d.Rows, int64(i+1)*block); row++ {
				move(row)
			}
			return nil
		})
	}
	if err := each(func(row int64) { copy(spare.Row(row), d.Row(from[row])) }); err != nil {
		return err
	}
	return each(func(row int64) { copy(d.Row(row), spare.Row(row)) })
}
