package tensorcache

import (
	"context"
	"fmt"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// Values of FeedOptions.Delivery.
const (
	// DeliverSlot makes the daemon gather batches into slots of shared memory, on cores that the
	// trainer does not use.
	DeliverSlot = "slot"
	// DeliverView delivers slices of the mapped file, without a copy; see [Part.Step]. It needs the
	// order sequential or random_start, a Dilation of 1, values of type T, and neither padding nor
	// replaced values. All columns of a part must be adjacent whole rows: one column, or all
	// columns that a packed dataset stores, in their order. Batches across the end of an item are
	// copies.
	DeliverView = "view"
	// DeliverLocal gathers batches in this process, when the loop asks for them, and reuses their
	// memory. It suits trainers that keep every core busy, because the daemon then takes no core
	// from them.
	DeliverLocal = "local"
	// DeliverStarts delivers only the places of the windows, in Batch.ItemCode and Batch.Start, and
	// Mask and Reset if asked for. [Batch.Rows] returns them as rows of the dataset. T may be any
	// type.
	DeliverStarts = "starts"
	// DeliverAuto is DeliverView if views are possible and nearly all batches are views, else
	// DeliverSlot. [Feed.Delivery] returns the one in use.
	DeliverAuto = "auto"
)

// attachFirst attaches the feed's first stream, and with it settles the delivery.
func (f *Feed[T]) attachFirst(ctx context.Context) (s *stream, err error) {
	if f.options.Parts != nil {
		f.options.Delivery = DeliverSlot
	}
	if o := f.options; o.Delivery != DeliverSlot && o.Delivery != DeliverStarts {
		if f.builder, err = newBatchBuilder[T](f.windows, o); err != nil {
			return nil, err
		}
	}
	if s, err = f.attach(ctx, nil); err != nil {
		return nil, err
	}
	if err = f.settleDelivery(s); err != nil {
		s.close()
	}
	return s, err
}

// settleDelivery sets the delivery by the first reply, and checks the types of the parts.
func (f *Feed[T]) settleDelivery(s *stream) error {
	f.delivery = s.reply.Delivery
	if f.delivery == DeliverView { // by auto never an error: attach says whether views are possible
		return f.builder.reader.checkViews()
	}
	if f.delivery == DeliverSlot && f.builder != nil { // auto found that views are not possible
		f.closeBuilder()
		f.builder = nil
	}
	for _, name := range []string{"context", "target", "known", "known_context", "known_target", "static"} {
		if p, ok := s.layout.parts[name]; ok {
			err := checkType[T](name, p.dtype)
			if err != nil && f.options.Parts != nil {
				err = fmt.Errorf("%w; or give it a Name, and read it with PartOf", err)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// checkDelivery returns an error if the reply has another delivery than requested.
func (s *stream) checkDelivery(requested string) error {
	got := s.reply.Delivery
	ok := got == requested ||
		requested == DeliverAuto && (got == DeliverSlot || got == DeliverView)
	for _, name := range []string{"item", "start"} {
		p := s.layout.parts[name]
		ok = ok && p.dtype == layout.Int64 && len(p.shape) == 1 &&
			int64(p.shape[0]) == s.layout.batchSize
	}
	if !ok {
		return fmt.Errorf("%w: delivery %q of parts %+v, where %q was asked for", ErrProtocol, got,
			s.reply.Parts, requested)
	}
	return nil
}

// makeBatch returns the batch of a descriptor.
func (f *Feed[T]) makeBatch(s *stream, d wire.Descriptor) (*Batch[T], error) {
	if s.reply.Delivery == DeliverView && d.Flags&wire.FlagRun != 0 {
		return f.builder.view(s, d)
	}
	memory, isLent := s.ring.lend(d.Slot)
	if memory == nil {
		return nil, fmt.Errorf("the feed is %w", ErrClosed)
	}
	b := batchInSlot[T](s.layout, memory, int(d.Rows))
	b.itemRows = f.windows.itemRows
	refs := &batchRefs{slot: d.Slot}
	refs.count.Store(1)
	if isLent {
		refs.ring = s.ring
	}
	if f.builder != nil {
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

// yieldBatch yields a batch, and invalidates it after the loop's body unless it is held.
func yieldBatch[T Value](b *Batch[T], yield func(*Batch[T]) bool) bool {
	if b.refs != nil {
		defer b.unref(b.refs)
	}
	return yield(b)
}
