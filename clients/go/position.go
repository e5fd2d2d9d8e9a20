package tensorcache

import "github.com/tensorcache/tensorcache/internal/wire"

// place is a place in the order: an epoch, and how many of its windows all ranks have consumed, or
// how many batches if the order has Traits.Blocks.
type place struct {
	epoch    uint64
	consumed int64
}

// before reports whether a place comes before another in the order.
func (p place) before(q place) bool {
	return p.epoch < q.epoch || p.epoch == q.epoch && p.consumed < q.consumed
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
	passes        *passes     // nil if passes are the epochs of the order
	passEnd       place       // of the latest pass, if passes is not nil
}

// begin begins a pass.
func (p *position) begin(start place) {
	p.passStart, p.lastBatch, p.endedEmpty = start, nil, false
	if p.passes != nil {
		p.passEnd = p.passes.end(start)
	}
}

// record records a batch, or the end of an epoch in which this rank gets no more batch. over reports
// whether the pass ends with it.
func (p *position) record(d *descriptor, empty bool) (over bool) {
	p.endedEmpty = empty
	if empty && p.lastBatch == nil { // nothing of the pass was delivered: it begins there
		p.passStart = place{d.epoch + 1, 0}
	} else {
		p.lastBatch = d
	}
	return p.isOver(d.flags)
}

// isOver reports whether the pass has had its last batch. flags are those of the latest descriptor.
func (p *position) isOver(flags uint32) bool {
	if p.passes == nil {
		return flags&wire.FlagLast != 0
	}
	return !p.ofStream().before(p.passEnd)
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

// ofNextPass returns where the next pass begins without nextPassStart: after this pass, if it
// delivered anything.
func (p *position) ofNextPass() place {
	switch {
	case p.lastBatch == nil:
		return p.passStart
	case p.passes == nil:
		return place{p.lastBatch.epoch + 1, 0}
	case p.isOver(p.lastBatch.flags):
		return p.ofStream()
	}
	return p.passEnd
}

// startOf returns where an epoch begins, or a pass if passes are not epochs.
func (p *position) startOf(epoch uint64) place {
	if p.passes == nil {
		return place{epoch, 0}
	}
	return p.passes.start(epoch)
}
