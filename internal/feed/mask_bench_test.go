package feed

import (
	"fmt"
	"math"
	"testing"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/storetest"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/sampler"
)

// BenchmarkFillMasks compares batches with masks to those without, which have half the bytes.
func BenchmarkFillMasks(b *testing.B) {
	env := newTestEnv(b, largeBudget)
	memory, err := newRing(env.dir+"/tmp", 16, timedBatch*(240*timedFeatures*4+16), 0)
	if err != nil {
		b.Fatal(err)
	}
	defer memory.close()
	values := []wire.PartRequest{{Name: "x", Part: plan.Context}, {Name: "y", Part: plan.Target}}
	masks := append(values[:2:2], wire.PartRequest{Name: "mx", Part: "observed"},
		wire.PartRequest{Name: "my", Part: "target_observed"})
	for _, kind := range []string{layout.Columns, layout.Packed} {
		for _, percent := range []uint64{0, 5, 50} {
			name := fmt.Sprintf("%s-%d", kind, percent)
			publishWithMissing(b, env, name, kind, percent)
			h := must(env.store.Acquire(name, 0))(b)
			defer h.Release()
			windows := must(plan.New(h, asJSON(map[string]any{"context_length": 96, "prediction_length": 24,
				"max_missing": nil}), nil))(b)
			for _, order := range []string{sampler.Shuffle, sampler.Sequential} {
				for with, parts := range map[string][]wire.PartRequest{"values": values, "masks": masks} {
					selected := must(windows.Select(parts, false))(b)
					b.Run(fmt.Sprintf("%s %s %s", name, order, with), func(b *testing.B) {
						fillBatches(b, memory, selected, order)
					})
				}
			}
		}
	}
}

// fillBatches gathers batches of windows into slots, with one worker.
func fillBatches(b *testing.B, memory *ring, windows *plan.Windows, order string) {
	s := must(sampler.New(windows.Index, sampler.Options{BatchSize: timedBatch, Order: order}))(b)
	slots := must(batch.NewLayout(windows, batch.Slot, batch.ShapeOf(s, false, false)))(b)
	f := must(batch.NewFiller(windows, slots, false))(b)
	var batch sampler.Batch
	consumed, slot, count := int64(0), uint32(0), uint32(chooseSlots(0, slots.Bytes))
	b.SetBytes(slots.Bytes)
	for b.Loop() {
		if s.Steps(0, consumed) < 2 {
			consumed = 0
		}
		if err := s.Batch(&batch, 0, consumed); err != nil {
			b.Fatal(err)
		}
		f.Fill(memory.slot(slot%count), &batch)
		consumed, slot = batch.Next, slot+1
	}
	b.ReportMetric(float64(b.N)*timedBatch/b.Elapsed().Seconds()/1e6, "Mwindows/s")
}

// publishWithMissing publishes timedRows rows of timedFeatures columns, in which some values are
// missing.
func publishWithMissing(b *testing.B, env *testEnv, name, kind string, percent uint64) {
	table := layout.Table{Layout: kind, Rows: timedRows}
	for i := range timedFeatures {
		table.Columns = append(table.Columns, layout.Column{Name: fmt.Sprint("c", i), Role: layout.RoleValue,
			DType: layout.Float32})
	}
	storetest.Publish(b, env.store, name, table,
		layout.Final{Items: layout.Items{Offsets: []int64{0, timedRows}}}, func(w *layout.Writer) {
			random := uint64(1)
			for i := range timedFeatures {
				v := layout.Values[float32](w.Column(i, layout.Random))
				for row := range v.Rows {
					random = random*6364136223846793005 + 1442695040888963407
					if v.Row(row)[0] = float32(row); random>>32%100 < percent {
						v.Row(row)[0] = float32(math.NaN())
					}
				}
			}
		})
}
