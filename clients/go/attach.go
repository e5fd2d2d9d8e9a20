package tensorcache

import (
	"context"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// attach has the daemon serve the feed in a manner, from a place; nil is the beginning. It does so
// no more where it has ended the one that this one comes instead of.
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
		Hello: hello("feed"), Dataset: w.data.name, Generation: w.data.generation,
		Digest: w.data.Digest(), Spec: w.specJSON, Cuts: w.cuts,
		Options: f.options.sampler(), Delivery: m.delivery, Views: f.views(), Slots: m.slots,
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

// reattach goes on where the loop is in the manner that is wanted, if that is another one. The
// stream that serves is let go last, and stays where no better one can be had: others may have the
// memory, the generation of a closed dataset leaves the cache with its last feed, descriptors end,
// the daemon is gone, or somebody has closed the feed, of which the loop is to be told.
func (f *Feed[T]) reattach(ctx context.Context, s *stream, pass uint64) (*stream, error) {
	if f.want == f.have {
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
		f.stream, f.have = next, f.want
	}
	f.recordAttached(next.reply.Slots)
	return next, nil
}

// attachFor attaches for a pass in the manner that is wanted. The caller holds mu, which others may
// have meanwhile: they ask and seek, and Close ends the wait. An error of a pass that is over says
// so.
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
	s, err := f.attach(ctx, f.want, &at, replaces)
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
