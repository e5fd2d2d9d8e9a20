package tensorcache

import (
	"context"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// manner is how a feed is served, as far as that may change on the way.
type manner struct {
	delivery string
	slots    int // 0 lets the daemon choose
}

// attach has the daemon serve the feed in a manner, from a place; nil is the beginning. It does so
// no more where it has ended the one that this one comes instead of.
func (f *Feed[T]) attach(ctx context.Context, m manner, at *spot, instead string) (*stream, error) {
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
		Hello: hello("feed"), Dataset: w.data.name, Generation: w.data.generation,
		Digest: w.data.Digest(), Spec: w.canonical, Cuts: w.cuts,
		Options: f.options.sampler(), Delivery: m.delivery, Views: f.gather != nil &&
			f.gather.parts.checkViews() == nil, Slots: m.slots,
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

// exchange goes on where the loop is in the manner that is wanted, if that is another one. The
// stream that serves is let go last, and stays where no better one can be had: others may have the
// memory, the generation of a closed dataset leaves the cache with its last feed, descriptors end,
// the daemon is gone, or somebody has closed the feed, of which the loop is to be told.
func (f *Feed[T]) exchange(ctx context.Context, s *stream, pass uint64) (*stream, error) {
	if f.want == f.have {
		return s, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	made, err := f.attachFor(ctx, pass, f.placeOfStream())
	if made != nil && f.worse(made, s) {
		made.close()
		made = nil
	}
	switch over := f.over(pass); {
	case over != nil:
		return s, over
	case err != nil && ctx.Err() != nil:
		return s, ctx.Err()
	case made == nil:
		f.want, made = f.have, s
		if f.chooser != nil {
			f.chooser.keep(f.have.delivery)
		}
	default:
		f.drop()
		f.stream, f.have = made, f.want
	}
	f.attached(made)
	return made, nil
}

// attachFor attaches for a pass in the manner that is wanted. The caller holds mu, which others may
// have meanwhile: they ask and seek, and Close ends the wait. An error of a pass that is over says
// so.
func (f *Feed[T]) attachFor(ctx context.Context, pass uint64, at spot) (*stream, error) {
	if over := f.over(pass); over != nil {
		return nil, over
	}
	ctx, hangUp := context.WithCancel(ctx)
	defer hangUp()
	f.hangUp = hangUp
	instead := ""
	if f.stream != nil {
		instead = f.stream.reply.Feed
	}
	f.mu.Unlock()
	s, err := f.attach(ctx, f.want, &at, instead)
	f.mu.Lock()
	f.hangUp = nil
	if over := f.over(pass); over != nil {
		if s != nil {
			s.close()
		}
		return nil, over
	}
	return s, err
}

// attached takes note of the feed's ring.
func (f *Feed[T]) attached(s *stream) {
	if f.tuner != nil {
		f.tuner.made(s.reply.Slots)
	}
	f.freeGather()
}

// worse tells whether the ring that was asked for came out no larger than the one there is, and
// smaller than it should be.
func (f *Feed[T]) worse(made, s *stream) bool {
	return f.want.delivery == f.have.delivery && made.reply.Slots < f.want.slots &&
		made.reply.Slots <= s.reply.Slots
}
