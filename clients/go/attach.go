package tensorcache

import (
	"context"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// attach makes the daemon serve the feed in a mode, from a place; nil is the beginning. replaces is
// the feed's present stream or "". If the daemon has ended that one, it refuses the new one too.
func (f *Feed[T]) attach(ctx context.Context, m mode, from *place,
	replaces string) (*stream, error) {
	w := f.windows
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
		Digest: w.data.Digest(), Spec: w.specJSON, Cuts: w.cuts,
		Options: f.options.sampler(), Delivery: m.delivery, Views: f.canView(), Slots: m.slots,
		ChannelsFirst: f.options.ChannelsFirst, Mask: f.options.Mask, Cursor: cursorText,
		Instead: replaces,
	}, &f.meter)
	if err != nil {
		return nil, err
	}
	if err := s.checkDelivery(m.delivery); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// reattach replaces the stream if another mode is wanted, and continues where the loop is. The old
// stream is closed last. It stays if no better one can be had: other feeds use the memory, a closed
// dataset's generation leaves the cache with its last feed, the process has no descriptor left, the
// daemon is gone, or the daemon has ended the feed. The loop then reads the error from the old
// stream.
func (f *Feed[T]) reattach(ctx context.Context, s *stream, pass uint64) (*stream, error) {
	if f.wanted == f.current {
		return s, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	next, err := f.attachForPass(ctx, pass, f.ofStream())
	if next != nil && f.isWorse(next.reply.Slots, s.reply.Slots) {
		next.close()
		next = nil
	}
	switch over := f.passErrorLocked(pass); {
	case over != nil:
		return s, over
	case err != nil && ctx.Err() != nil:
		return s, ctx.Err()
	case next == nil:
		f.cancelChange()
		next = s
	default:
		f.detach()
		f.stream, f.current = next, f.wanted
	}
	f.recordAttached(next.reply.Slots)
	return next, nil
}

// attachForPass attaches a stream of the wanted mode for a pass. The caller holds mu, which
// attachForPass releases while it waits, so that others can call State and SetEpoch, and Close can
// end the wait. If the pass is over by then, it returns that error.
func (f *Feed[T]) attachForPass(ctx context.Context, pass uint64, at place) (*stream, error) {
	if over := f.passErrorLocked(pass); over != nil {
		return nil, over
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.cancelAttach = cancel
	replaces := ""
	if f.stream != nil {
		replaces = f.stream.reply.Feed
	}
	f.mu.Unlock()
	s, err := f.attach(ctx, f.wanted, &at, replaces)
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
