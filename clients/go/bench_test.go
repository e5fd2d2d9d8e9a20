package tensorcache

import (
	"testing"

	"github.com/tensorcache/tensorcache/window"
)

// BenchmarkFeed measures a loop that does not read its batches: 4 million rows of 8 columns,
// context 96, prediction 24, batch 256, order shuffle; views in order random_start.
//
//	go test ./clients/go -run '^$' -bench Feed
func BenchmarkFeed(b *testing.B) {
	const rows, columns = 4_000_000, 8
	for _, layout := range []string{"packed", "columns"} {
		c := sharedDaemon(b)
		put := make([]PutColumn, columns)
		for i := range put {
			put[i] = Values(string(rune('a'+i)), make([]float32, rows))
		}
		d := must(c.Put(b.Context(), "bench", put, LoadOptions{Layout: layout}))(b)
		defer d.Close()
		w := must(d.Windows(b.Context(), window.Spec{ContextLength: 96, PredictionLength: 24}))(b)
		for _, delivery := range []string{DeliverSlot, DeliverLocal, DeliverStarts, DeliverView} {
			o := FeedOptions{BatchSize: 256, Order: "shuffle", Delivery: delivery}
			if delivery == DeliverView {
				if o.Order = "random_start"; layout == "columns" {
					continue
				}
			}
			b.Run(layout+"/"+delivery, func(b *testing.B) {
				f := must(NewFeed[float32](b.Context(), w, o))(b)
				defer f.Close()
				b.ReportAllocs()
				n, windows := 0, 0
				b.ResetTimer()
				for n < b.N {
					for batch, err := range f.Epoch(b.Context()) {
						if err != nil {
							b.Fatal(err)
						}
						windows += batch.Len()
						if n++; n == b.N {
							break
						}
					}
				}
				b.ReportMetric(float64(windows)/b.Elapsed().Seconds(), "windows/s")
			})
		}
	}
}
