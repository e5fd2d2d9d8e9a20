package feed

import (
	"testing"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/sampler"
)

func TestFillAllocatesNothing(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 100_000) // more than a thousand batches
	for name, change := range map[string]func(map[string]any){
		"lanes":   spec(),
		"float64": spec("dtype", "float64"),
		"channels": func(r map[string]any) {
			spec("dtype",
				"float64")(r)
			r["channels_first"] = true
		},
		"mask": func(r map[string]any) {
			spec("min_context", 1, "max_missing",
				nil)(r)
			r["mask"] = true
		},
		"one column": spec("columns", []string{"b"}),
	} {
		t.Run(name, func(t *testing.T) {
			r := request("d", change)
			h := must(env.store.Acquire("d", 0))(t)
			defer h.Release()
			windows := must(plan.New(h, asJSON(r["spec"]), nil))(t)
			order := must(
				sampler.New(windows.Index,
					sampler.Options{BatchSize: 32, Order: sampler.Shuffle}))(t)
			first, mask := r["channels_first"] == true, r["mask"] == true
			slots := must(batch.NewLayout(windows, batch.Slot, batch.ShapeOf(order, first, mask)))(t)
			f := must(batch.NewFiller(windows, slots, first))(t)
			slot := make([]byte, slots.Bytes)
			var b sampler.Batch
			consumed := int64(0)
			if n := testing.AllocsPerRun(1000, func() {
				if err := order.Batch(&b, 0, consumed); err != nil {
					t.Fatal(err)
				}
				consumed = b.Next
				f.Fill(slot, &b)
			}); n > 0 {
				t.Errorf("%v allocations a batch, want none", n)
			}
		})
	}
}
