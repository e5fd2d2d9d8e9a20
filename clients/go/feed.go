package tensorcache

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/tensorcache/tensorcache/sampler"
)

// Feed is one trainer's stream of batches, prepared ahead by the daemon in shared memory. It serves
// one goroutine; State, Stats, Delivery and Close may be called from others.
type Feed[T Value] struct {
	windows *Windows
	options FeedOptions
	// counts the batches of epochs if they differ in length; else nil
	counter *sampler.Sampler
	meter   meter

	mu sync.Mutex
	modes[T]
	position
	stream       *stream            // nil if none is attached
	cancelAttach context.CancelFunc // ends the wait for another stream; nil without one
	cursor       Cursor             // of the dataset, spec and order of the feed
	epochBatches int64              // batches of an epoch
	passNumber   uint64
	closed       bool
	batches      int64
	oldCopied    int64   // by streams that have ended
	oldRings     []*ring // of streams that have ended, while batches in them are held
}

// NewFeed begins a stream of batches of values of type T: float32, unless the spec's dtype says
// otherwise. The daemon begins to fill the ring at once. The error wraps ErrType where a part is of
// another type, and is of type InvalidSpec with the Field that is to blame, or of type Memory where
// three slots do not fit the budget.
func NewFeed[T Value](ctx context.Context, w *Windows, o FeedOptions) (*Feed[T], error) {
	if err := w.checkWeights(o.Weights); err != nil {
		return nil, err
	}
	f := &Feed[T]{windows: w, options: o}
	if o.sampler().Traits().VariableLength {
		runs, err := w.index(ctx)
		if err != nil {
			return nil, err
		}
		if f.counter, err = sampler.New(runs, o.sampler()); err != nil {
			return nil, optionError(err)
		}
	}
	if f.options.Delivery == "" {
		f.options.Delivery = DeliverSlot
	}
	if o.Slots == 0 {
		f.tuner = &tuner{}
	}
	s, err := f.attachFirst(ctx)
	if err != nil {
		f.closeBuilder()
		return nil, err
	}
	f.stream, f.cursor, f.epochBatches = s, s.reply.Cursor, s.reply.Batches
	return f, nil
}

// optionError turns a sampler's refusal into an Error.
func optionError(err error) error {
	var o *sampler.OptionError
	if errors.As(err, &o) {
		return &Error{Type: InvalidSpec, Detail: err.Error(), Field: o.Field}
	}
	return err
}

// Delivery is how batches come; by DeliverAuto what is used now.
func (f *Feed[T]) Delivery() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.have.delivery
}

// Windows is what the feed serves.
func (f *Feed[T]) Windows() *Windows { return f.windows }

// Len is the number of this rank's batches in an epoch; in an order whose epochs differ
// (random_start), of the epoch under way, else of the next.
func (f *Feed[T]) Len() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counter == nil {
		return f.epochBatches
	}
	switch {
	case f.meter.running() && f.last != nil:
		return f.counter.Steps(f.last.epoch, 0)
	case f.meter.running():
		return f.counter.Steps(f.start.epoch, 0)
	case f.target != nil:
		return f.counter.Steps(f.target.epoch, 0)
	}
	return f.counter.Steps(f.ofNextPass().epoch, 0)
}

// Epoch is one pass over the windows: its batches, or the error that ended it. The next call's pass
// is the next epoch; a pass counts when it ends, and when it delivered a batch and was left. A
// batch belongs to the loop's body (see [Batch]).
//
// The error, always the last that is yielded, is the context's, which leaves the feed as it is;
// ErrClosed or ErrPassOver; or what the daemon refused, or it wraps ErrGone: after these the next
// pass attaches anew, if a daemon is there, and goes on at the same batch.
func (f *Feed[T]) Epoch(ctx context.Context) iter.Seq2[*Batch[T], error] {
	return func(yield func(*Batch[T], error) bool) {
		if err := f.pass(ctx, func(b *Batch[T]) bool { return yield(b, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

// SetEpoch has the next pass be the given epoch, from its start.
func (f *Feed[T]) SetEpoch(epoch uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.target = &place{epoch, 0}
}

// State is where the loop is; the batch that it has now counts as consumed. After the last batch of
// an epoch it is the start of the next. Any rank's state resumes any number of ranks.
func (f *Feed[T]) State() Cursor {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, at := f.cursor, f.ofLoop()
	c.Epoch, c.Consumed = at.epoch, at.consumed
	return c
}

// LoadState has the next pass go on exactly where State was called. The error is of type
// CursorMismatch for a state of another dataset, spec, seed or order; the message says what
// differs.
func (f *Feed[T]) LoadState(c Cursor) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := c.Check(f.cursor); err != nil {
		return clientError(err)
	}
	if c.Consumed < 0 {
		return errorf(CursorMismatch, "consumed", "the state is at epoch %d after %s", c.Epoch,
			f.consumedText(c.Consumed))
	}
	f.target = &place{c.Epoch, c.Consumed}
	return nil
}

// Close ends the feed, and a pass over it; the daemon frees its ring. Batches that are held stay
// valid. Calling it again does nothing.
func (f *Feed[T]) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.cancelAttach != nil {
		f.cancelAttach()
	}
	f.pauseClocks()
	f.detach()
	f.closeBuilder()
	return nil
}
