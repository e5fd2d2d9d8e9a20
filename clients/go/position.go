package tensorcache

import "github.com/tensorcache/tensorcache/internal/wire"

// place is a place in the order: an epoch, and how many of its windows all ranks have consumed, or
// how many batches if the order has Traits.Blocks.
type place struct {
	epoch    uint64
	consumed int64
}

// descriptor is what the loop knows of a batch: its place, and the flags of its wire.Descriptor.
type descriptor struct {
	place
	flags uint32
}

// position is where the loop over a feed is.
type position struct {
	passStart     place       // of the latest pass
	lastBatch     *descriptor // of the latest pass; nil before its first batch
	nextPassStart *place      // if SetEpoch or LoadState was called; else nil
	endedEmpty    bool        // the latest pass ended without a last batch
}

// ofLoop returns where the loop continues.
func (p *position) ofLoop() place {
	if p.nextPassStart != nil {
		return *p.nextPassStart
	}
	return p.ofStream()
}

// ofStream returns where the stream is, without regard to nextPassStart.
func (p *position) ofStream() place {
	switch {
	case p.lastBatch == nil:
		return p.passStart
	case p.lastBatch.flags&wire.FlagLast != 0:
		return place{p.lastBatch.epoch + 1, 0}
	}
	return p.lastBatch.place
}

// ofNextPass returns where the next pass begins without nextPassStart: at the next epoch, if this
// pass delivered anything.
func (p *position) ofNextPass() place {
	if p.lastBatch == nil {
		return p.passStart
	}
	return place{p.lastBatch.epoch + 1, 0}
}
