package feed

import (
	"fmt"
	"testing"

	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/storetest"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/store"
)

// The dataset of the benchmarks of the deliveries: 4 M rows of 8 float32, context 96, prediction
// 24, batches of 256.
const (
	timedRows     = 4_000_000
	timedFeatures = 8
	timedBatch    = 256
)

// publishTimed publishes the dataset in both layouts.
func publishTimed(b *testing.B, s *store.Store) {
	for _, kind := range []string{layout.Columns, layout.Packed} {
		table := layout.Table{Layout: kind, Rows: timedRows}
		for i := range timedFeatures {
			table.Columns = append(table.Columns, layout.Column{Name: fmt.Sprint("c", i),
				Role: layout.RoleValue, DType: layout.Float32})
		}
		storetest.Publish(b, s, kind, table,
			layout.Final{Items: layout.Items{Offsets: []int64{0, timedRows}}},
			func(w *layout.Writer) {
				for i := range timedFeatures {
					v := layout.Values[float32](w.Column(i, layout.Random))
					for row := range v.Rows {
						v.Row(row)[0] = float32(row)
					}
				}
			})
	}
}

// BenchmarkFill gathers into a slot with one worker, and compares that with one copy of as many
// bytes.
func BenchmarkFill(b *testing.B) {
	env := newTestEnv(b, largeBudget)
	publishTimed(b, env.store)
	memory, err := newRing(env.dir+"/tmp", 16, timedBatch*(120*timedFeatures*4+16), 0)
	if err != nil {
		b.Fatal(err)
	}
	defer memory.close()
	for _, kind := range []string{layout.Columns, layout.Packed} {
		for _, order := range []string{sampler.Shuffle, sampler.Sequential} {
			b.Run(kind+" "+order, func(b *testing.B) {
				h := must(env.store.Acquire(kind, 0))(b)
				defer h.Release()
				windows := must(
					plan.New(h,
						asJSON(map[string]any{"context_length": 96, "prediction_length": 24}),
						nil))(b)
				fillBatches(b, memory, windows, order)
			})
		}
	}
	b.Run("memcpy", func(b *testing.B) {
		h := must(env.store.Acquire(layout.Packed, 0))(b)
		defer h.Release()
		all, _, err := layout.Block[float32](h.Data, selectAll(h))
		if err != nil {
			b.Fatal(err)
		}
		const values = timedBatch * 120 * timedFeatures
		b.SetBytes(values * 4)
		at := uint64(1)
		for i := uint32(0); b.Loop(); i++ {
			at = at*6364136223846793005 + 1442695040888963407
			from := int(at>>20) % (len(all.Data) - values)
			copy(unsafeSlice[float32](memory.slot(i%16)), all.Data[from:from+values])
		}
		b.ReportMetric(float64(b.N)*timedBatch/b.Elapsed().Seconds()/1e6, "Mwindows/s")
	})
}

func selectAll(h *store.Handle) (out []*layout.ManifestColumn) {
	for i := range h.Data.Manifest.Columns {
		out = append(out, &h.Data.Manifest.Columns[i])
	}
	return out
}
