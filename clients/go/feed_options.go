package tensorcache

import (
	"fmt"
	"math"

	"github.com/tensorcache/tensorcache/sampler"
)

// FeedOptions configure one trainer's feed. Only BatchSize or WholeGroups is required.
// docs/WINDOWS.md defines the orders and tails.
type FeedOptions struct {
	// BatchSize is the number of windows of a batch, from 1.
	BatchSize int64
	// WholeGroups makes each batch a whole group, in place of BatchSize. It needs an order of
	// groups.
	WholeGroups bool
	// Order is sequential, shuffle, bootstrap (draws with replacement), random_start (blocks of
	// consecutive windows), lanes (for stateful recurrent models, with Batch.Reset; the spec's
	// Stride must be its ContextLength), cross_section or cross_section_sequential (a batch has
	// windows of one time, in random or ascending order of time). "" is sequential.
	Order string
	// MinItems leaves out groups with fewer windows, in an order of groups. 0 means 1.
	MinItems int64
	// Seed selects a random order. Seed and epoch define it exactly.
	Seed uint64
	// Rank is this trainer's number, from 0, among the NumReplicas trainers that share an epoch.
	// NumReplicas 0 means 1.
	Rank, NumReplicas int64
	// Tail is what to do with the last, incomplete step: short, wrap or drop. "" is short for one
	// trainer and wrap for several.
	Tail string
	// Weights are the weights of the items in the order bootstrap, one for each item. Nil draws
	// all windows with equal probability.
	Weights []float64
	// EvenWeights, in the order bootstrap, draws every item that has windows with equal probability, and
	// then one of its windows. Weights must be nil.
	EvenWeights bool
	// BatchesPerEpoch is this rank's number of batches in an epoch of [Feed], in the orders sequential,
	// shuffle and bootstrap. Epoch e has the batches from e · BatchesPerEpoch on of the endless sequence
	// of the order's own epochs, so that shuffle repeats no window within those, and Tail applies at
	// their end. With several ranks, Tail must be wrap or drop. [Windows.Plan] describes epochs of the
	// order. If it is 0, an epoch is one of the order.
	BatchesPerEpoch int64
	// ChannelsFirst delivers parts of shape [B, F, C] instead of [B, C, F].
	ChannelsFirst bool
	// Mask delivers Batch.Mask, ContextMissing and TargetMissing even if the spec allows neither
	// padding nor missing values.
	Mask bool
	// Parts are the parts of a batch beside its places, in place of those of the spec; the daemon
	// gathers no others. Nil is the parts of the spec. With them, Mask must be false, and Delivery
	// DeliverSlot or DeliverAuto, which is DeliverSlot then.
	Parts []FeedPart
	// Delivery is [DeliverSlot], [DeliverView], [DeliverLocal], [DeliverStarts] or [DeliverAuto].
	// "" is DeliverSlot.
	Delivery string
	// Slots is the number of batches in flight, at least 3. Each takes the memory of one batch.
	// If it is 0, the daemon chooses: about 16 MiB, 8 to 64 slots. Stats has a verdict that says
	// whether more would help.
	Slots int
}

// sampler returns the options that define the order.
func (o FeedOptions) sampler() sampler.Options {
	size := sampler.BatchSize(max(o.BatchSize, math.MinInt64+1))
	if o.WholeGroups {
		size = sampler.WholeGroups
	}
	weights := sampler.Weights{Items: o.Weights}
	if o.EvenWeights {
		weights.Name = sampler.EvenWeights
	}
	return sampler.Options{Order: o.Order, Seed: o.Seed, BatchSize: size, Rank: o.Rank,
		NumReplicas: o.NumReplicas, Tail: o.Tail, MinItems: o.MinItems, Weights: weights}
}

// check returns an error for options that JSON cannot represent.
func (o FeedOptions) check(w *Windows) error {
	if o.WholeGroups && o.BatchSize != 0 {
		return errorf(InvalidSpec, "batch_size",
			"batch_size: got %d with WholeGroups, want one of them", o.BatchSize)
	}
	if o.EvenWeights && o.Weights != nil {
		return errorf(InvalidSpec, "weights", "weights: got %d with EvenWeights, want one of them",
			len(o.Weights))
	}
	if err := o.checkBatchesPerEpoch(); err != nil {
		return err
	}
	if err := o.checkParts(); err != nil {
		return err
	}
	return w.checkWeights(o.Weights)
}

// mostBatchesPerEpoch is the greatest BatchesPerEpoch.
const mostBatchesPerEpoch = 1 << 48

// checkBatchesPerEpoch returns an error if BatchesPerEpoch is out of range, or not allowed with the
// order, or with the tail.
func (o FeedOptions) checkBatchesPerEpoch() error {
	const field = "batches_per_epoch"
	n, traits := o.BatchesPerEpoch, o.sampler().Traits()
	switch {
	case n == 0:
		return nil
	case n < 0 || n > mostBatchesPerEpoch:
		return errorf(InvalidSpec, field, "%s: got %d, want 1 to %d, or 0 for the epochs of the order",
			field, n, int64(mostBatchesPerEpoch))
	case traits.Blocks || traits.Resets:
		return errorf(InvalidSpec, field, "%s: got %d with order %q, want sequential, shuffle or bootstrap",
			field, n, o.Order)
	case o.Tail == sampler.Short && o.NumReplicas > 1:
		return errorf(InvalidSpec, field, "%s: got %d with tail %q and num_replicas %d, want wrap or drop",
			field, n, o.Tail, o.NumReplicas)
	}
	return nil
}

// passes returns the passes of BatchesPerEpoch batches, or nil if passes are the epochs of the
// order. batches is this rank's number of batches in such an epoch.
func (o FeedOptions) passes(w *Windows, batches int64) *passes {
	if o.BatchesPerEpoch == 0 {
		return nil
	}
	p := &passes{n: uint64(o.BatchesPerEpoch), batches: uint64(batches),
		step: o.BatchSize * max(1, o.NumReplicas), windows: w.windows, least: 1}
	if o.Tail == sampler.Drop {
		p.least = p.step
	}
	return p
}

// checkWeights returns an error for weights that are not finite numbers from 0, one for each item.
// JSON has no infinity and no NaN, so the daemon could not refuse them.
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

// Cursor is a place in an order. It identifies its dataset, spec and order, so that
// [Feed.LoadState] refuses others. Its JSON is an object of a few integers, the same in all
// clients.
type Cursor = sampler.Cursor
