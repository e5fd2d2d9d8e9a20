package tensorcache

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/tensorcache/tensorcache/sampler"
)

// Feed is one trainer's stream of batches, which the daemon prepares ahead in shared memory. It
// serves one goroutine; others may call State, Stats, Delivery and Close.
type Feed[T Value] struct {
	windows *Windows
	options FeedOptions
	// counter counts an epoch's batches, if epochs differ in length; else nil
	counter *sampler.Sampler
	meter   meter
	// delivery is the delivery in use, and builder makes its batches; nil if this process does not
	// read columns. Both are set by NewFeed.
	delivery string
	builder  *batchBuilder[T]

	mu sync.Mutex
	position
	stream       *stream            // nil if none is attached
	cancelAttach context.CancelFunc // ends the wait for the next stream; nil without a wait
	cursor       Cursor             // identifies dataset, spec and order; its place is unused
	epochBatches int64              // if epochs do not differ in length
	passNumber   uint64             // of the latest pass
	closed       bool
	batches      int64   // handed to the loop
	endedCopied  int64   // batches that streams copied which have ended
	endedRings   []*ring // of streams that have ended, while batches of them are held
}

// NewFeed starts a stream of batches. The daemon begins to fill the ring at once. T is the Go type
// of all parts: float32, unless the spec's DType is another one.
//
// The error wraps ErrType if a part has another type. It is of type InvalidSpec for an option that
// is not allowed, with the option in Field, and of type Memory if three slots do not fit into the
// daemon's memory budget.
func NewFeed[T Value](ctx context.Context, w *Windows, o FeedOptions) (*Feed[T], error) {
	if err := o.check(w); err != nil {
		return nil, err
	}
	f := &Feed[T]{windows: w, options: o}
	if o.sampler().Traits().VariableLength {
		runs, err := w.fetchRuns(ctx)
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
	s, err := f.attachFirst(ctx)
	if err != nil {
		f.closeBuilder()
		return nil, err
	}
	f.stream, f.cursor, f.epochBatches = s, s.reply.Cursor, s.reply.Batches
	f.passes = o.passes(w, s.reply.Batches)
	f.begin(place{})
	return f, nil
}

// optionError turns an error of the sampler's options into an Error.
func optionError(err error) error {
	var o *sampler.OptionError
	if errors.As(err, &o) {
		return &Error{Type: InvalidSpec, Detail: err.Error(), Field: o.Field}
	}
	return err
}

// Delivery returns the delivery in use: the one that was asked for, or by DeliverAuto the one that
// suits the windows.
func (f *Feed[T]) Delivery() string { return f.delivery }

// Windows returns the windows that the feed serves.
func (f *Feed[T]) Windows() *Windows { return f.windows }

// Len returns the number of this rank's batches in an epoch, or BatchesPerEpoch. In the order
// random_start, whose epochs differ in length, it is the epoch of the current pass, or between passes
// the next epoch.
func (f *Feed[T]) Len() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.passes != nil:
		return int64(f.passes.n)
	case f.counter == nil:
		return f.epochBatches
	case f.meter.running() && f.lastBatch != nil:
		return f.counter.Steps(f.lastBatch.epoch, 0)
	case f.meter.running():
		return f.counter.Steps(f.passStart.epoch, 0)
	case f.nextPassStart != nil:
		return f.counter.Steps(f.nextPassStart.epoch, 0)
	}
	return f.counter.Steps(f.ofNextPass().epoch, 0)
}

// Epoch returns one pass over the windows: the batches of an epoch, or BatchesPerEpoch batches, or the
// error that ended it. The next call returns the next epoch, if this pass ended or delivered a batch. A
// batch is valid in the loop's body (see [Batch]).
//
// An error is the last value that is yielded. If it is the context's, the feed stays as it is. It
// may also be ErrClosed or ErrPassOver. After a refusal of the daemon, or an error that wraps
// ErrGone, the next pass attaches again, to the daemon that runs then, and continues with the same
// batch.
func (f *Feed[T]) Epoch(ctx context.Context) iter.Seq2[*Batch[T], error] {
	return func(yield func(*Batch[T], error) bool) {
		if err := f.pass(ctx, func(b *Batch[T]) bool { return yield(b, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

// SetEpoch makes the next pass serve an epoch, numbered from 0, from its start. With BatchesPerEpoch,
// it is epoch · BatchesPerEpoch batches after the start of the order; if that is too far, it begins
// with the order's last epoch, 2⁶⁴ − 1.
func (f *Feed[T]) SetEpoch(epoch uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	start := f.startOf(epoch)
	f.nextPassStart = &start
}

// State returns where the loop is. The batch of the current loop body counts as consumed, and after
// the last batch of an epoch the state is the start of the next. A state of any rank resumes all
// ranks, of any number.
func (f *Feed[T]) State() Cursor {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, at := f.cursor, f.ofLoop()
	c.Epoch, c.Consumed = at.epoch, at.consumed
	return c
}

// LoadState makes the next pass continue where State was called. The error is of type
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
	f.nextPassStart = &place{c.Epoch, c.Consumed}
	return nil
}

// Close ends the feed and its current pass; the daemon frees the ring. Held batches stay valid.
// Calling it again does nothing.
func (f *Feed[T]) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.cancelAttach != nil {
		f.cancelAttach()
	}
	f.meter.pause()
	f.detach()
	f.closeBuilder()
	return nil
}

// closeBuilder lets the dataset unmap its files. A pass that still runs ends with ErrClosed.
func (f *Feed[T]) closeBuilder() {
	if f.builder != nil {
		f.builder.close()
	}
}
