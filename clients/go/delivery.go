package tensorcache

import (
	"context"
	"fmt"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// Deliveries of [FeedOptions]: how batches come.
const (
	// DeliverSlot has the daemon gather batches into slots of the feed's ring, on cores that the
	// trainer leaves free.
	DeliverSlot = "slot"
	// DeliverView has batches that are pieces of the mapped file, without any copy: see
	// [Part.Step]. It is there for the orders sequential and random_start, where all columns of a
	// part lie side by side in whole rows (one column, or all that a packed dataset stores side by
	// side, in their order) as values of T, where Dilation is 1 and nothing is padded or replaced.
	// A batch that runs over the end of an item is gathered here instead.
	DeliverView = "view"
	// DeliverLocal gathers batches in this process, as the loop asks for them, into memory that no
	// batch holds any more: for trainers that keep every core busy, from whom each wake of the
	// daemon takes one away.
	DeliverLocal = "local"
	// DeliverStarts only says where the windows are: Batch.Item and Batch.Start, which Batch.Rows
	// sums up, and Mask and Reset where these are asked for. T is then of no matter.
	DeliverStarts = "starts"
	// DeliverAuto is DeliverView where that can be and nearly all batches are views. Else it tries
	// DeliverSlot and DeliverLocal in turn on the first 900 to 2,000 steps, and keeps the one with
	// which steps take less time; where both take the same, DeliverSlot if a core is idle.
	// [Feed.Delivery] says which is used now, and Stats what a step took by each.
	DeliverAuto = "auto"
)

// first attaches for the first time, and settles the delivery.
func (f *Feed[T]) attachFirst(ctx context.Context) (s *stream, err error) {
	if o := f.options; o.Delivery != DeliverSlot && o.Delivery != DeliverStarts {
		if f.builder, err = newBatchBuilder[T](f.windows, o); err != nil {
			return nil, err
		}
	}
	if s, err = f.attach(ctx, mode{f.options.Delivery, f.options.Slots}, nil, ""); err != nil {
		return nil, err
	}
	if err = f.settleDelivery(s); err != nil {
		s.close()
	}
	return s, err
}

func (f *Feed[T]) settleDelivery(s *stream) error {
	f.have = mode{s.reply.Delivery, f.options.Slots}
	f.want = f.have
	switch s.reply.Delivery {
	case DeliverView: // auto is asked without views where this would refuse
		return f.builder.reader.checkViews()
	case DeliverSlot:
		if f.options.Delivery == DeliverAuto {
			f.chooser = newChooser()
		}
	}
	for _, name := range []string{"context", "target", "known", "static"} {
		if p, ok := s.layout.parts[name]; ok {
			if err := checkType[T](name, p.dtype); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkDelivery holds the reply to what was asked for.
func (s *stream) checkDelivery(asked string) error {
	got := s.reply.Delivery
	settled := got == asked || asked == DeliverAuto && (got == DeliverSlot || got == DeliverView)
	for _, name := range []string{"item", "start"} {
		p := s.layout.parts[name]
		settled = settled && p.dtype == layout.Int64 && len(p.shape) == 1 &&
			int64(p.shape[0]) == s.layout.batchSize
	}
	if !settled {
		return fmt.Errorf("%w: delivery %q of parts %+v, where %q was asked for", ErrProtocol, got,
			s.reply.Parts, asked)
	}
	return nil
}

// batch makes the batch of a descriptor.
func (f *Feed[T]) makeBatch(s *stream, d wire.Descriptor) (*Batch[T], error) {
	if s.reply.Delivery == DeliverView && d.Flags&wire.FlagRun != 0 {
		return f.builder.view(s, d)
	}
	memory, isLent := s.ring.lend(d.Slot)
	if memory == nil {
		return nil, fmt.Errorf("the feed is %w", ErrClosed)
	}
	b := batchInSlot[T](s.layout, memory, int(d.Rows))
	b.rows = f.windows.rows
	refs := &batchRefs{slot: d.Slot}
	refs.count.Store(1)
	if isLent {
		refs.ring = s.ring
	}
	if f.builder != nil && s.reply.Delivery != DeliverSlot {
		if err := f.builder.gather(b, refs); err != nil {
			b.unref(refs)
			return nil, err
		}
	}
	if isLent || refs.freeBuffer != nil {
		b.refs = refs
	}
	return b, nil
}

// lend hands a batch to the loop's body.
func yieldBatch[T Value](b *Batch[T], yield func(*Batch[T]) bool) bool {
	if b.refs != nil {
		defer b.unref(b.refs)
	}
	return yield(b)
}
