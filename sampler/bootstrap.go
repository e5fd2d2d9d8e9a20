package sampler

import "fmt"

// Bootstrap draws windows with replacement: entry p is window below(draw(key(seed, epoch, 2),
// p), n).
//
// With weights, it draws an item in proportion to its weight, and one of its windows uniformly.
// With d = draw(key, 2p) and e = draw(key, 2p+1), the item is the first whose running sum of
// weights exceeds ⌊d/2¹¹⌋·2⁻⁵³ times the total weight. Sums are float64, in item order, without
// items that have no windows. The number of the window within the item is below(e, count).
// EvenWeights are 1 for each item.
const Bootstrap = "bootstrap"

var bootstrapKind = kind{
	name:   Bootstrap,
	cursor: cursorFields{seed: true, weights: true},
	new:    newBootstrap,
}

type bootstrap struct {
	n    int64
	seed uint64
	key  uint64 // of the epoch

	// nil without weights
	items []itemWindows
	sums  []float64 // running sums of the items' weights
}

func newBootstrap(x Windows, o Options) (order, error) {
	b := &bootstrap{n: x.Len(), seed: o.Seed}
	if o.Weights.IsZero() {
		return b, nil
	}
	b.items = itemsOf(x)
	b.sums = make([]float64, len(b.items))
	sum := 0.0
	for i, it := range b.items {
		weight, ok := o.Weights.of(it.item)
		if !ok {
			return nil, &OptionError{"weights", "", fmt.Sprintf(
				"one for each item, at least %d, not %d", b.items[len(b.items)-1].item+1,
				len(o.Weights.Items))}
		}
		sum += weight
		b.sums[i] = sum
	}
	if !(sum > 0) || sum-sum != 0 {
		return nil, &OptionError{"weights", "", fmt.Sprintf(
			"a finite sum above 0 over the items that have windows, not %.9g", sum)}
	}
	return b, nil
}

func (b *bootstrap) minEntries() int64 { return b.n }

func (b *bootstrap) begin(epoch uint64) int64 {
	b.key = epochKey(b.seed, epoch, forBootstrap)
	return b.n
}

func (b *bootstrap) append(dst []int64, first, count int64) []int64 {
	for p := uint64(first); p < uint64(first+count); p++ {
		if b.sums == nil {
			dst = append(dst, int64(below(draw(b.key, p), uint64(b.n))))
		} else {
			dst = append(dst, b.weighted(p))
		}
	}
	return dst
}

// weighted returns the window of an entry, with weights.
func (b *bootstrap) weighted(p uint64) int64 {
	share := float64(draw(b.key, 2*p)>>11) * 0x1p-53
	it := b.items[firstAbove(b.sums, share*b.sums[len(b.sums)-1])]
	return it.first + int64(below(draw(b.key, 2*p+1), uint64(it.count)))
}
