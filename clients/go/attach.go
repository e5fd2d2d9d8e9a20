package tensorcache

import (
	"cmp"
	"context"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// attach makes the daemon serve the feed from a place; nil is the beginning. After the first time,
// the delivery is the one in use.
func (f *Feed[T]) attach(ctx context.Context, from *place) (*stream, error) {
	w, o := f.windows, f.options
	delivery := cmp.Or(f.delivery, o.Delivery)
	var cursor *Cursor
	if from != nil {
		c := f.cursor
		c.Epoch, c.Consumed = from.epoch, from.consumed
		cursor = &c
	}
	cursorText, err := cursorJSON(cursor)
	if err != nil {
		return nil, err
	}
	s, err := w.data.cache.attach(ctx, wire.FeedRequest{
		RequestHeader: requestHeader("feed"), Dataset: w.data.name, Generation: w.data.generation,
		Digest: w.data.Digest(), Spec: w.specJSON, Cuts: w.cuts, Options: o.sampler(),
		Delivery: delivery, Views: f.builder != nil && f.builder.reader.checkViews() == nil,
		Slots: o.Slots, ChannelsFirst: o.ChannelsFirst, Mask: o.Mask, Parts: o.partRequests(),
		Cursor: cursorText,
	}, &f.meter)
	if err != nil {
		return nil, err
	}
	s.layout.hasNamed = o.Parts != nil
	if err := s.checkDelivery(delivery); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// attachForPass attaches a stream for a pass. The caller holds mu, which attachForPass releases
// while it waits, so that others can call State and SetEpoch, and Close can end the wait. If the
// pass is over by then, it returns that error.
func (f *Feed[T]) attachForPass(ctx context.Context, pass uint64, at place) (*stream, error) {
	if over := f.passErrorLocked(pass); over != nil {
		return nil, over
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.cancelAttach = cancel
	f.mu.Unlock()
	s, err := f.attach(ctx, &at)
	f.mu.Lock()
	f.cancelAttach = nil
	if over := f.passErrorLocked(pass); over != nil {
		if s != nil {
			s.close()
		}
		return nil, over
	}
	return s, err
}
