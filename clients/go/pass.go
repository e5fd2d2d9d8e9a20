package tensorcache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// pass yields the batches of a pass until yield returns false.
func (f *Feed[T]) pass(ctx context.Context, yield func(*Batch[T]) bool) error {
	s, pass, err := f.beginPass(ctx)
	if err != nil {
		return err
	}
	defer f.endPass(pass)
	return f.serve(ctx, s, pass, yield)
}

// serve yields a stream's batches until the pass ends.
func (f *Feed[T]) serve(ctx context.Context, s *stream, pass uint64,
	yield func(*Batch[T]) bool) error {
	defer interruptOn(ctx, s.conn)()
	half := max(1, s.reply.Slots/2)
	for {
		d, ok := s.nextDescriptor()
		for !ok {
			if err := s.receive(); err != nil {
				return f.streamFailed(ctx, s, pass, err)
			}
			d, ok = s.nextDescriptor()
		}
		if ctx.Err() != nil {
			s.undoNext()
			return ctx.Err()
		}
		if d.Slot == wire.NoSlot {
			over, err := f.recordDescriptor(pass,
				&descriptor{place{d.Epoch, d.Consumed}, d.Flags | wire.FlagLast}, true)
			if err != nil || over {
				return err
			}
			continue
		}
		over, err := f.recordDescriptor(pass, &descriptor{place{d.Epoch, d.Consumed}, d.Flags}, false)
		if err != nil {
			s.undoNext()
			return err
		}
		b, err := f.makeBatch(s, d)
		if err != nil {
			return cmp.Or(f.passError(pass), err)
		}
		if !yieldBatch(b, yield) {
			return nil
		}
		if err := f.passError(pass); err != nil || over {
			return err
		}
		if err := s.giveBack(half); err != nil {
			return f.streamFailed(ctx, s, pass, err)
		}
	}
}

// beginPass brings the stream to the place where the pass begins, and returns the pass's number.
func (f *Feed[T]) beginPass(ctx context.Context) (*stream, uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, 0, fmt.Errorf("the feed is %w", ErrClosed)
	}
	f.passNumber++ // ends the current pass
	f.meter.pause()
	streamPlace, start, target := f.ofStream(), f.ofNextPass(), f.nextPassStart
	if target != nil {
		start = *target
	}
	switch {
	case f.stream == nil:
		s, err := f.attachForPass(ctx, f.passNumber, start)
		if err != nil {
			return nil, 0, err
		}
		f.stream = s
	case start != streamPlace || f.endedEmpty: // after two empty epochs the daemon waits for a seek
		stop := interruptOn(ctx, f.stream.conn)
		err := f.stream.seek(start.epoch, start.consumed)
		stop()
		if err != nil {
			f.detach()
			return nil, 0, connectionError(ctx, err)
		}
	}
	f.begin(start)
	if f.nextPassStart == target { // else another goroutine has set it for the pass after this one
		f.nextPassStart = nil
	}
	f.meter.begin()
	return f.stream, f.passNumber, nil
}

// recordDescriptor records the descriptor of the batch that is yielded next, or of none if empty.
// over reports whether the pass ends with it.
func (f *Feed[T]) recordDescriptor(pass uint64, d *descriptor, empty bool) (over bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.passErrorLocked(pass); err != nil {
		return false, err
	}
	if !empty {
		f.batches++
	}
	return f.record(d, empty), nil
}

// passError returns the error of a pass that is over, or nil.
func (f *Feed[T]) passError(pass uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.passErrorLocked(pass)
}

// passErrorLocked is passError for a caller that holds mu.
func (f *Feed[T]) passErrorLocked(pass uint64) error {
	switch {
	case f.closed:
		return fmt.Errorf("the feed is %w", ErrClosed)
	case f.passNumber != pass:
		return ErrPassOver
	}
	return nil
}

// streamFailed returns the error of a pass whose stream failed. The next pass continues at the same
// place.
func (f *Feed[T]) streamFailed(ctx context.Context, s *stream, pass uint64, err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if over := f.passErrorLocked(pass); over != nil {
		return over
	}
	if ctx.Err() != nil {
		if s.writeFailed.Load() && f.stream == s {
			f.detach()
		}
		return ctx.Err() // without detach: the stream can be read on later
	}
	at := f.ofLoop()
	if f.stream == s {
		f.detach()
	}
	f.nextPassStart = &at
	if err = connectionError(ctx, err); errors.Is(err, ErrGone) {
		name := "epoch"
		if f.passes != nil {
			name = "the order's epoch"
		}
		return fmt.Errorf("the feed ended in %s %d after %s: %w", name, at.epoch,
			f.consumedText(at.consumed), err)
	}
	return err
}

// consumedText returns how much of an epoch was consumed, for messages.
func (f *Feed[T]) consumedText(consumed int64) string {
	if f.options.sampler().Traits().Blocks {
		return fmt.Sprintf("%d batches", consumed)
	}
	return fmt.Sprintf("%d of %d windows", consumed, f.windows.windows)
}

// detach closes the stream; the next pass attaches again.
func (f *Feed[T]) detach() {
	if f.stream == nil {
		return
	}
	f.stream.close()
	_, copied := f.stream.ring.counts()
	f.endedCopied += copied
	f.endedRings = slices.DeleteFunc(append(f.endedRings, f.stream.ring), func(r *ring) bool {
		lent, _ := r.counts()
		return lent == 0
	})
	f.stream = nil
}

// endPass stops the clock, unless another pass has begun.
func (f *Feed[T]) endPass(pass uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.passNumber == pass {
		f.meter.pause()
	}
}
