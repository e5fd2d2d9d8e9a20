package feed

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// meter tells how long each side of a feed waited for the other, each by its own clock: the
// daemon's producer for free slots, and the trainer, which reports it in METER frames, for batches.
// The stream's mu guards it.
type meter struct {
	began time.Time
	// The producer's waits, and since when it waits now; zero when it does not.
	forTrainer time.Duration
	since      time.Time
	// The producer's waits for pages of the data that were not in memory.
	forDisk time.Duration
	// What the trainer reported: time inside passes, and of that in wait for a batch.
	passes, forData time.Duration
	// Where what happened inside passes begins and ends: when the feed began, or where its client
	// had passes before, as one that attached anew, at the first report; and at the latest one.
	base, latest moment
}

// moment is what the meter showed when a report came.
type moment struct {
	at                          time.Time
	passes, forTrainer, forDisk time.Duration
}

// wait begins a wait of the producer, done ends it.
func (m *meter) wait() { m.since = time.Now() }

func (m *meter) done() {
	m.forTrainer += time.Since(m.since)
	m.since = time.Time{}
}

// report takes what a METER frame says.
func (m *meter) report(payload []byte, now time.Time) error {
	u := binary.LittleEndian.Uint64
	if len(payload) != wire.MeterSize || u(payload) > 1<<62 || u(payload[8:]) > u(payload) {
		return fmt.Errorf(
			"%w: a meter of %d bytes, want %d: nanoseconds in passes, and those of them in wait",
			wire.ErrFrame, len(payload), wire.MeterSize)
	}
	m.passes, m.forData = time.Duration(u(payload)), time.Duration(u(payload[8:]))
	m.latest = moment{now, m.passes, m.soFar(now), m.forDisk}
	if m.base.at.IsZero() {
		if m.base = m.latest; m.passes <= now.Sub(m.began) {
			m.base = moment{at: m.began}
		}
	}
	return nil
}

// soFar is how long the producer has waited for free slots.
func (m *meter) soFar(now time.Time) time.Duration {
	if m.since.IsZero() {
		return m.forTrainer
	}
	return m.forTrainer + now.Sub(m.since)
}

// shares are those of the time inside passes.
type shares struct {
	idle float64 // that the daemon waited for the trainer
	disk float64 // that it waited for pages
}

// inPasses leaves out what the producer waits between passes, in an evaluation perhaps: its ring is
// full then, whatever limits the feed.
func (m *meter) inPasses() shares {
	passes := m.latest.passes - m.base.passes
	if passes <= 0 {
		return shares{}
	}
	between := max(0, m.latest.at.Sub(m.base.at)-passes)
	share := func(d time.Duration) float64 { return min(1, max(0, d.Seconds()/passes.Seconds())) }
	return shares{share(m.latest.forTrainer - m.base.forTrainer - between),
		share(m.latest.forDisk - m.base.forDisk)}
}

// read fills in a feed's waiting times at a moment.
func (m *meter) read(f *wire.Feed, now time.Time) {
	f.Seconds, f.WaitTrainerS = now.Sub(m.began).Seconds(), m.soFar(now).Seconds()
	f.PassS, f.WaitDataS = m.passes.Seconds(), m.forData.Seconds()
	if f.Seconds > 0 {
		f.WaitTrainerShare = min(1, f.WaitTrainerS/f.Seconds)
	}
	if m.passes > 0 {
		f.WaitDataShare = f.WaitDataS / f.PassS
	}
}
