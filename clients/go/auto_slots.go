package tensorcache

import (
	"context"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// Parameters of the tuner, the same as in the Python client.
const (
	decisionInterval = time.Second // inside passes
	// A trainer that waits for a smaller share of its time has enough slots.
	lowWaitShare = 0.02
	// A daemon that waits for a smaller share of the time is busy and would not fill more slots.
	lowIdleShare = 0.2
	// More slots helped if the share of waiting fell below this fraction of what it was.
	helpedFactor = 0.9
	maxSlots     = 512
)

// answerTimeout limits how long a decision waits for the daemon, because the loop waits meanwhile.
const answerTimeout = decisionInterval / 4

// tuner chooses the number of slots. It doubles them while trainer and daemon wait for each other
// in turn, and undoes the last step if it did not help. It follows tf.data's autotuning (Murray et
// al., tf.data: A Machine Learning Data Processing Framework, VLDB 2021).
type tuner struct {
	settled              bool          // the number is final
	passed, waited, idle time.Duration // at the latest decision
	slotsBefore          int           // before the latest doubling; 0 without one to judge
	waitShareBefore      float64       // share of waiting with slotsBefore
}

// due reports whether a decision is due after some time inside passes.
func (t *tuner) due(passed time.Duration) bool {
	return !t.settled && passed-t.passed >= decisionInterval
}

// decide returns the number of slots that the ring should have. passed is the time inside passes,
// and waited the part of it in which the trainer waited for data. idle returns the time inside
// passes in which the daemon waited for the trainer since the ring was made; ok is false if the
// daemon does not answer.
func (t *tuner) decide(passed, waited time.Duration, idle func() (total time.Duration, ok bool),
	slots int) int {
	elapsed := passed - t.passed
	waitShare := float64(waited-t.waited) / float64(elapsed)
	t.passed, t.waited = passed, waited
	if before := t.slotsBefore; before > 0 {
		if t.slotsBefore = 0; waitShare > helpedFactor*t.waitShareBefore {
			t.settled = true
			return before
		}
	}
	if waitShare < lowWaitShare {
		return slots
	}
	idleNow, ok := idle()
	if !ok {
		return slots
	}
	idled := idleNow - t.idle
	t.idle = idleNow
	if float64(idled) < lowIdleShare*float64(elapsed) || 2*slots > maxSlots {
		return slots
	}
	t.slotsBefore, t.waitShareBefore = slots, waitShare
	return 2 * slots
}

// resized records the slots of a new ring: fewer than decided if the memory allowed no more.
func (t *tuner) resized(slots int) {
	t.idle = 0
	if t.slotsBefore > 0 && slots <= t.slotsBefore {
		t.slotsBefore, t.settled = 0, true
	}
}

// tune makes a decision on the slots if one is due, and reports whether it changed their number.
func (f *Feed[T]) tune(ctx context.Context, s *stream) (changed bool) {
	if f.tuner == nil || f.current.delivery != DeliverSlot || f.isChoosing() {
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
		f.wanted.slots = slots
	}
	return changed
}

// idleInPasses asks the daemon how long it has waited for the trainer inside passes. ok is false if
// the daemon does not answer; the next decision then asks again.
func (f *Feed[T]) idleInPasses(ctx context.Context, s *stream) (idle time.Duration, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	var status wire.Feed
	if err := f.windows.data.cache.control.Get(ctx, "/v1/feeds/"+s.reply.Feed,
		&status); err != nil {
		return 0, false
	}
	return s.idleInPasses(seconds(status.WaitTrainerS)), true
}

// idleInPasses returns how much of the daemon's waiting was inside passes. Between passes the ring
// is full, and the daemon always waits.
func (s *stream) idleInPasses(waited time.Duration) time.Duration {
	passed, _ := s.meter.read()
	return max(0, waited-(time.Since(s.attached)-(passed-s.passedBefore)))
}
