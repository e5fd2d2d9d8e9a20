package tensorcache

import (
	"context"
	"errors"
	"slices"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// manner is how a feed is served, as far as that may change on the way.
type manner struct {
	delivery string
	slots    int // 0 lets the daemon choose
}

// attach has the daemon serve the feed in a manner, from a place; nil is the beginning.
func (f *Feed[T]) attach(ctx context.Context, m manner, at *spot) (*stream, error) {
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
		Hello: hello("feed"), Dataset: w.data.name, Generation: w.data.generation, Digest: w.data.Digest(), Spec: w.canonical, Cuts: w.cuts,
		Options: f.options.sampler(), Delivery: m.delivery, Views: f.gather != nil && f.gather.cutters.checkViews() == nil, Slots: m.slots, ChannelsFirst: f.options.ChannelsFirst, Mask: f.options.Mask, Cursor: cursor,
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

// exchange goes on where the loop is in the manner that is wanted, if that is another one. The stream that serves is let go last, and
// stays where no better one can be had: others may have taken the memory, and whoever closed the dataset lets its generation leave the
// cache with its last feed.
func (f *Feed[T]) exchange(ctx context.Context, s *stream, pass uint64) (*stream, error) {
	if f.want == f.have {
		return s, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	at, err := f.leave(pass, cancel)
	if err != nil {
		return s, err
	}
	made, err := f.attach(ctx, f.want, &at)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hangUp = nil
	over := f.over(pass)
	if made != nil && (over != nil || f.worse(made, s)) {
		made.close()
		made = nil
	}
	switch {
	case over != nil:
		return s, over
	case err != nil && !refused(err):
		return s, err
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

// attached takes note of the feed's ring.
func (f *Feed[T]) attached(s *stream) {
	if f.tuner != nil {
		f.tuner.made(s.reply.Slots)
	}
	f.freeGather()
}

// leave is where another stream shall go on; hangUp ends the wait for it when the feed is closed.
func (f *Feed[T]) leave(pass uint64, hangUp context.CancelFunc) (spot, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.over(pass); err != nil {
		return spot{}, err
	}
	f.hangUp = hangUp
	return f.placeOfStream(), nil
}

// worse tells whether the ring that was asked for came out no larger than the one there is, and smaller than it should be.
func (f *Feed[T]) worse(made, s *stream) bool {
	return f.want.delivery == f.have.delivery && made.reply.Slots < f.want.slots && made.reply.Slots <= s.reply.Slots
}

// refused tells whether the daemon has no memory for another ring, or only feeds still keep the generation.
func refused(err error) bool {
	return slices.ContainsFunc([]Type{Memory, NoSpace, DatasetNotFound, GenerationGone}, func(t Type) bool { return errors.Is(err, t) })
}
