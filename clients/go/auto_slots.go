package tensorcache

import (
	"context"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// How a ring is tuned. The Python client has the same numbers, and says why, in
// clients/python/src/tensorcache/_feed/auto_slots.py.
const (
	decisionInterval = time.Second // inside passes
	lowWaitShare     = 0.02
	lowIdleShare     = 0.2
	helpedFactor     = 0.9
	maxSlots         = 512
)

// answerWithin is how long a look waits for the daemon's word, while the loop stands still: a
// quarter of what lies between two looks.
const answerTimeout = decisionInterval / 4

// tuner doubles the slots while both sides wait, each at other times, and goes back by one step
// when that brought little.
type tuner struct {
	settled              bool          // nothing is tried any more
	passed, waited, idle time.Duration // at the last look
	slotsBefore          int           // slots before more were tried; 0 where none were
	waitShareBefore      float64       // the share of waiting with these
}

// due tells whether it is time for a look, after so much time inside passes.
func (t *tuner) due(passed time.Duration) bool {
	return !t.settled && passed-t.passed >= decisionInterval
}

// look is how many slots the ring shall have from here on: after so much time inside passes, of
// which the trainer waited for data. idle asks how long inside passes the daemon waited for the
// trainer since the ring was made; ok is false where it is silent.
func (t *tuner) decide(passed, waited time.Duration, idle func() (total time.Duration, ok bool),
	slots int) int {
	span := passed - t.passed
	share := float64(waited-t.waited) / float64(span)
	t.passed, t.waited = passed, waited
	if before := t.slotsBefore; before > 0 {
		if t.slotsBefore = 0; share > helpedFactor*t.waitShareBefore {
			t.settled = true
			return before
		}
	}
	if share < lowWaitShare {
		return slots
	}
	now, ok := idle()
	if !ok {
		return slots
	}
	idled := now - t.idle
	t.idle = now
	if float64(idled) < lowIdleShare*float64(span) || 2*slots > maxSlots {
		return slots
	}
	t.slotsBefore, t.waitShareBefore = slots, share
	return 2 * slots
}

// made says that the ring was made anew, with so many slots: fewer than were wanted where memory
// did not allow more.
func (t *tuner) resized(slots int) {
	t.idle = 0
	if t.slotsBefore > 0 && slots <= t.slotsBefore {
		t.slotsBefore, t.settled = 0, true
	}
}

// tune looks, where it is time, whether the ring shall have more slots, or fewer.
func (f *Feed[T]) tune(ctx context.Context, s *stream) (changed bool) {
	if f.tuner == nil || f.have.delivery != DeliverSlot || f.isChoosing() {
		return false
	}
	passed, waited := f.meter.read()
	if !f.tuner.due(passed) {
		return false
	}
	slots := f.tuner.decide(passed, waited,
		func() (time.Duration, bool) { return f.idleInPasses(ctx, s) },
		s.reply.Slots)
	if changed = slots != s.reply.Slots; changed {
		f.want.slots = slots
	}
	return changed
}

// idle asks how long the daemon has waited for the trainer inside passes. A daemon that does not
// answer is asked again by the next look; whether there is one is the stream's to find out.
func (f *Feed[T]) idleInPasses(ctx context.Context, s *stream) (time.Duration, bool) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	var status wire.Feed
	if err := f.windows.data.cache.control.Get(ctx, "/v1/feeds/"+s.reply.Feed,
		&status); err != nil {
		return 0, false
	}
	return s.idleInPasses(seconds(status.WaitTrainerS)), true
}

// idled is what of the daemon's waiting was inside passes: between them the ring is full, whoever
// was too slow in them.
func (s *stream) idleInPasses(waited time.Duration) time.Duration {
	passed, _ := s.meter.read()
	return max(0, waited-(time.Since(s.attached)-(passed-s.passedBefore)))
}
