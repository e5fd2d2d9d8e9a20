package tensorcache

import (
	"math"
	"math/bits"
)

// passes are passes of n batches over the endless sequence of the order's epochs, which all have
// the same number of batches.
//
// A place that a feed with another number of ranks saved may lie inside a batch of this feed. The
// pass that continues there ends at the same place in the sequence, and may have one batch fewer.
type passes struct {
	n       uint64 // this rank's batches in a pass
	batches uint64 // this rank's batches in an epoch of the order
	step    int64  // windows of all ranks in a step
	windows int64  // windows in an epoch of the order
	least   int64  // windows in the least step
}

// start returns the place where a pass begins, or the order's last epoch if that is too far.
func (p *passes) start(number uint64) place {
	hi, lo := bits.Mul64(number, p.n)
	if hi >= p.batches {
		return place{math.MaxUint64, 0}
	}
	epoch, step := bits.Div64(hi, lo, p.batches)
	return place{epoch, int64(step) * p.step}
}

// end returns the place where the pass ends that a place is in.
func (p *passes) end(at place) place {
	step := p.batches
	if p.windows-at.consumed >= p.least {
		step = uint64(at.consumed / p.step)
	}
	// The number of the batch in the sequence may need more than 64 bits.
	hi, lo := bits.Mul64(at.epoch, p.batches)
	lo, carry := bits.Add64(lo, step, 0)
	step += p.n - bits.Rem64(hi+carry, lo, p.n)
	epoch, overflow := bits.Add64(at.epoch, step/p.batches, 0)
	if overflow != 0 {
		return place{math.MaxUint64, math.MaxInt64}
	}
	return place{epoch, int64(step%p.batches) * p.step}
}
