package bench

import (
	"strconv"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/tensorcache/tensorcache/window"
)

// shortItems returns a table of items with one and two rows alternately, with hourly times.
func shortItems(items int64) window.Table {
	t := window.Table{Offsets: make([]int64, items+1), Unit: "s",
		ItemHash: func(item int64) uint64 {
			var room [20]byte
			return xxhash.Sum64(strconv.AppendInt(room[:0], item, 10))
		}}
	for i := range items {
		t.Offsets[i+1] = t.Offsets[i] + 1 + i%2
		for row := t.Offsets[i]; row < t.Offsets[i+1]; row++ {
			t.Times = append(t.Times, row*3600)
		}
	}
	return t
}

// BenchmarkManyItems plans over 10⁷ items, and compares that with a pass over one int64 of each.
func BenchmarkManyItems(b *testing.B) {
	const items = 10_000_000
	table := shortItems(items)
	plain := window.Spec{ContextLength: 1}
	jumps := plain
	jumps.MaxStep = window.Nanoseconds(int64(time.Hour))
	stepped := withSteps(b, table)
	share := 0.8
	for _, c := range []struct {
		name  string
		spec  window.Spec
		table window.Table
		cuts  []window.Cut
	}{
		{"all", plain, table, nil},
		{"jumps in time", jumps, table, nil},
		{"jumps in time, steps kept", jumps, stepped, nil},
		{"missing", plain, withMissing(table, 1000), nil},
		{"where items", plain, table,
			[]window.Cut{{Where: &window.Where{Items: []int64{3, items / 2, items - 1}}}}},
		{"split items by hash", plain, table,
			[]window.Cut{{Split: &window.Split{
				Items: &window.ItemParts{Fractions: []*float64{&share, nil}}}}}},
		{"latest", plain, withMissing(table, 1000), []window.Cut{{Latest: true}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x, err := window.Apply(c.spec, c.table, c.cuts)
				if err != nil {
					b.Fatal(err)
				}
				sink += x.Len()
			}
			reportPasses(b, b.N, items)
		})
	}
}
