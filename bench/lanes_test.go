package bench

import (
	"testing"

	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/window"
)

// BenchmarkLanesOfManyItems draws an epoch of lanes over 10⁷ items and reads its first batch.
func BenchmarkLanesOfManyItems(b *testing.B) {
	const items = 10_000_000
	x := build(b, window.Spec{ContextLength: 1}, shortItems(items))
	b.ReportAllocs()
	var batch sampler.Batch
	for b.Loop() {
		s, err := sampler.New(x, sampler.Options{Order: sampler.Lanes, BatchSize: 256, Seed: 1,
			Tail: sampler.Short})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Batch(&batch, 0, 0); err != nil {
			b.Fatal(err)
		}
		sink += batch.Windows[0]
	}
	reportPasses(b, b.N, items)
}
