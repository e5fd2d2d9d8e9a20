package tensorcache

import (
	"fmt"
	"math"

	"github.com/tensorcache/tensorcache/sampler"
)

// FeedOptions describe one trainer's stream. Only BatchSize must be given.
type FeedOptions struct {
	// BatchSize is the number of windows a batch, from 1.
	BatchSize int64
	// Order is sequential, shuffle, bootstrap (with replacement), random_start (blocks of
	// neighbouring windows) or lanes (for stateful recurrent models, with Batch.Reset; its spec has
	// Stride = ContextLength); "" is sequential. docs/WINDOWS.md has their formulas.
	Order string
	// Seed and epoch fix an order exactly.
	Seed uint64
	// Rank says which of the NumReplicas trainers that share an epoch this is, from 0; NumReplicas
	// 0 means 1.
	Rank, NumReplicas int64
	// Tail is what becomes of the last, incomplete step: short, wrap or drop; "" is short for one
	// trainer and wrap for several.
	Tail string
	// Weights, for order bootstrap, are one per item; nil draws all windows evenly.
	Weights []float64
	// ChannelsFirst delivers [B, F, C] instead of [B, C, F].
	ChannelsFirst bool
	// Mask delivers Batch.Mask and the missing ones even where nothing is padded or missing.
	Mask bool
	// Delivery is how batches come: [DeliverSlot], which "" means, DeliverView, DeliverLocal,
	// DeliverStarts or DeliverAuto.
	Delivery string
	// Slots is the number of batches in flight, each of which costs one batch of memory; 3 is the
	// least. With 0 the daemon chooses, and by DeliverSlot the feed has twice as many while both
	// sides wait for each other, and goes back where that brought little.
	Slots int
}

func (o FeedOptions) sampler() sampler.Options {
	return sampler.Options{Order: o.Order, Seed: o.Seed, BatchSize: o.BatchSize, Rank: o.Rank,
		NumReplicas: o.NumReplicas, Tail: o.Tail, Weights: o.Weights}
}

// checkWeights refuses weights that JSON would not carry as they are, or that are not one for each
// item.
func (w *Windows) checkWeights(weights []float64) error {
	if n := len(w.data.offsets) - 1; weights != nil && len(weights) != n {
		return errorf(InvalidSpec, "weights", "weights: got %d, want one for each of %d items",
			len(weights), n)
	}
	for i, weight := range weights {
		if !(weight >= 0) || math.IsInf(weight, 1) {
			field := fmt.Sprintf("weights[%d]", i)
			return errorf(InvalidSpec, field, "%s: got %v, want a finite number from 0",
				field, weight)
		}
	}
	return nil
}

// Cursor resumes an order exactly: a flat object of a few integers in JSON, the same in all
// clients. What it belongs to stands in it, so that one of another dataset, spec or order is
// refused.
type Cursor = sampler.Cursor
