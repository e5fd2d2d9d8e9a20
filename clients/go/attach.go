package tensorcache

import (
	"context"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// attach has the daemon serve the feed in a manner, from a place; nil is the beginning. It does so
// no more where it has ended the one that this one comes instead of.
func (f *Feed[T]) attach(ctx context.Context, m mode, at *place, instead string) (*stream, error) {
	w := f.windows
	var from *Cursor
	if at != nil {
		c := f.cursor
		c.Epoch, c.Consumed = at.epoch, at.consumed
		from = &c
	}
	cursor, err := cursorJSON(from)
	if err != nil {
		return nil, err
	}
	s, err := w.data.cache.attach(ctx, wire.FeedRequest{
		RequestHeader: hello("feed"), Dataset: w.data.name, Generation: w.data.generation,
		Digest: w.data.Digest(), Spec: w.canonical, Cuts: w.cuts,
		Options: f.options.sampler(), Delivery: m.delivery, Views: f.views(), Slots: m.slots,
		ChannelsFirst: f.options.ChannelsFirst, Mask: f.options.Mask, Cursor: cursor,
		Instead: instead,
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
	made, err := f.attachFor(ctx, pass, f.ofStream())
	if made != nil && f.isWorse(made.reply.Slots, s.reply.Slots) {
		made.close()
		made = nil
	}
	switch over := f.over(pass); {
	case over != nil:
		return s, over
	case err != nil && ctx.Err() != nil:
		return s, ctx.Err()
	case made == nil:
		f.keep()
		made = s
	default:
		f.drop()
		f.stream, f.have = made, f.want
	}
	f.attached(made.reply.Slots)
	return made, nil
}

// attachFor attaches for a pass in the manner that is wanted. The caller holds mu, which others may
// have meanwhile: they ask and seek, and Close ends the wait. An error of a pass that is over says
// so.
func (f *Feed[T]) attachFor(ctx context.Context, pass uint64, at place) (*stream, error) {
	if over := f.over(pass); over != nil {
		return nil, over
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.cancel = cancel
	instead := ""
	if f.stream != nil {
		instead = f.stream.reply.Feed
	}
	f.mu.Unlock()
	s, err := f.attach(ctx, f.want, &at, instead)
	f.mu.Lock()
	f.cancel = nil
	if over := f.over(pass); over != nil {
		if s != nil {
			s.close()
		}
		return nil, over
	}
	return s, err
}
