package feed

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// meter measures how long each side of a feed waited for the other, each with its own clock: the
// producer for free slots, and the trainer, which reports it in METER frames, for batches. The
// feed's mu guards it.
type meter struct {
	began time.Time
	// Time that the producer has waited for free slots, and the start of its present wait; zero if
	// it does not wait.
	forTrainer time.Duration
	since      time.Time
	// Time that the producer has waited for pages of the data that were not in memory.
	forDisk time.Duration
	// Reported by the trainer: the time inside passes, and the part of it in which it waited for a
	// batch.
	passes, forData time.Duration
	// The states at the beginning and at the end of the measured passes. base is the state when the
	// feed began, or at the first report if the client had passes before, because it has attached
	// again. latest is the state at the latest report.
	base, latest meterState
}

// meterState is the state of a meter at a time.
type meterState struct {
	at                          time.Time
	passes, forTrainer, forDisk time.Duration
}

// wait begins a wait of the producer, and done ends it.
func (m *meter) wait() { m.since = time.Now() }

func (m *meter) done() {
	m.forTrainer += time.Since(m.since)
	m.since = time.Time{}
}

// report records a METER frame.
func (m *meter) report(payload []byte, now time.Time) error {
	u := binary.LittleEndian.Uint64
	if len(payload) != wire.MeterSize || u(payload) > 1<<62 || u(payload[8:]) > u(payload) {
		return fmt.Errorf(
			"%w: a meter of %d bytes, want %d: nanoseconds in passes, and those of them in wait",
			wire.ErrFrame, len(payload), wire.MeterSize)
	}
	m.passes, m.forData = time.Duration(u(payload)), time.Duration(u(payload[8:]))
	m.latest = meterState{now, m.passes, m.waitedForTrainer(now), m.forDisk}
	if m.base.at.IsZero() {
		if m.base = m.latest; m.passes <= now.Sub(m.began) {
			m.base = meterState{at: m.began}
		}
	}
	return nil
}

// waitedForTrainer returns how long the producer has waited for free slots.
func (m *meter) waitedForTrainer(now time.Time) time.Duration {
	if m.since.IsZero() {
		return m.forTrainer
	}
	return m.forTrainer + now.Sub(m.since)
}

// shares are parts of the time inside passes.
type shares struct {
	idle float64 // in which the daemon waited for the trainer
	disk float64 // in which it waited for pages
}

// inPasses returns the shares without waits of the producer between passes, for example during an
// evaluation: the ring is full then, whatever limits the feed.
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

// fillIn sets the waiting times of a feed.
func (m *meter) fillIn(f *wire.Feed, now time.Time) {
	f.Seconds, f.WaitTrainerS = now.Sub(m.began).Seconds(), m.waitedForTrainer(now).Seconds()
	f.PassS, f.WaitDataS = m.passes.Seconds(), m.forData.Seconds()
	if f.Seconds > 0 {
		f.WaitTrainerShare = min(1, f.WaitTrainerS/f.Seconds)
	}
	if m.passes > 0 {
		f.WaitDataShare = f.WaitDataS / f.PassS
	}
}
