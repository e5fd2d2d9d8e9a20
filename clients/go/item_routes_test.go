package tensorcache

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tensorcache/tensorcache/internal/testseed"
	"github.com/tensorcache/tensorcache/window"
)

// TestEveryRouteFromAWindowLeadsToItsItem checks that an item's value means the same item wherever
// it is given back, even if values are numbers that could be codes.
func TestEveryRouteFromAWindowLeadsToItsItem(t *testing.T) {
	c, ctx := sharedDaemon(t), t.Context()
	random := rand.New(rand.NewPCG(testseed.Seed(), 0))
	const context = 3
	for round := range 30 {
		numbers := random.Perm(1 + random.IntN(5))
		factor := int64(1)
		if round%3 == 0 {
			factor = 1 << 60
		}
		var ids, rowsOf []int64
		var texts []string
		var values []float64
		for i, n := range numbers {
			rowsOf = append(rowsOf, context+random.Int64N(5))
			for r := range rowsOf[i] {
				ids, texts = append(ids, int64(n)*factor), append(texts, fmt.Sprint(n))
				values = append(values, 1000*float64(i)+float64(r*r))
			}
		}
		columns := [][]PutColumn{{Values("id", ids)}, {Texts("id", texts)},
			{Texts("text", texts), Values("id", ids)}}[round%3]
		var names []string
		for _, column := range columns {
			names = append(names, column.Name)
		}
		d := must(c.Put(ctx, "routes", append(columns, Values("y", values)), LoadOptions{
			ItemID: names, DType: "float64", Scale: "standard", ScalePer: "item"}))(t)
		w := must(d.Windows(ctx, window.Spec{ContextLength: context, DType: "float64",
			ContextColumns: []string{"y"}}))(t)
		all := make([]int64, w.Len())
		for i := range all {
			all[i] = int64(i)
		}
		b := must(At[float64](ctx, w, all...))(t)
		together := must(Inverse(d, []string{"y"}, b.Context,
			InverseOptions{ItemCodes: b.ItemCode}))(t)
		for i, row := range b.Rows() {
			item := must(b.Item(i))(t)
			if code := must(d.ItemCode(item))(t); code != b.ItemCode[i] {
				t.Fatalf("item %v has code %d, want %d", item, code, b.ItemCode[i])
			}
			alone := must(d.Inverse("y", b.Context.Window(i), item))(t)
			for k, got := range alone {
				if want := values[row+int64(k)]; math.Abs(got-want) > 1e-6 ||
					math.Abs(together.Window(i)[k]-want) > 1e-6 {
					t.Fatalf("item %v, row %d: got %v and %v, want %v", item, row+int64(k), got,
						together.Window(i)[k], want)
				}
			}
			kept := must(w.Where(ctx, Where{Items: []any{item}}))(t)
			first := must(At[float64](ctx, kept, 0))(t)
			starts := must(w.Starts(ctx, item))(t)
			if n := rowsOf[b.ItemCode[i]] - context + 1; kept.Len() != n ||
				first.ItemCode[0] != b.ItemCode[i] || int64(len(starts)) != n {
				t.Fatalf("item %v has %d windows, want %d; the first is of item %d, want %d", item,
					kept.Len(), n, first.ItemCode[0], b.ItemCode[i])
			}
		}
		_, err := Inverse(d, []string{"y"}, b.Context,
			InverseOptions{ItemCodes: b.ItemCode, Item: must(b.Item(0))(t)})
		if !errors.Is(err, InvalidSpec) {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
