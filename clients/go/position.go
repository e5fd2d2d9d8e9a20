package tensorcache

import "github.com/tensorcache/tensorcache/internal/wire"

// place is a place in the order: an epoch, and how many of its windows all ranks have consumed, or
// how many batches if the order has Traits.Blocks.
type place struct {
	epoch    uint64
	consumed int64
}

// descriptor is the latest descriptor that the loop got.
type descriptor struct {
	place
	flags uint32
}

// position is where the loop over a feed is.
type position struct {
	start  place       // where the latest pass began
	last   *descriptor // its latest batch; nil before the first
	target *place      // where the next pass begins, if SetEpoch or LoadState was called
	empty  bool        // the latest pass ended without a last batch
}

// ofLoop returns where the loop continues.
func (p *position) ofLoop() place {
	if p.target != nil {
		return *p.target
	}
	return p.ofStream()
}

// ofStream returns where the stream is, whatever the target is.
func (p *position) ofStream() place {
	switch {
	case p.last == nil:
		return p.start
	case p.last.flags&wire.FlagLast != 0:
		return place{p.last.epoch + 1, 0}
	}
	return p.last.place
}

// ofNextPass returns where the next pass begins without a target: at the next epoch, if this pass
// delivered anything.
func (p *position) ofNextPass() place {
	if p.last == nil {
		return p.start
	}
	return place{p.last.epoch + 1, 0}
}
