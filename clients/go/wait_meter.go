package tensorcache

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// reportEvery is the shortest time between two METER frames, unless one is requested.
const reportEvery = 250 * time.Millisecond

// meter measures how long the trainer is inside passes, and how much of that it waits for data.
type meter struct {
	mu               sync.Mutex
	inPasses, waited time.Duration
	passBegan        time.Time // zero between passes
	nextReport       time.Time
}

func (m *meter) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.passBegan = time.Now()
}

func (m *meter) pause() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.passBegan.IsZero() {
		m.inPasses += time.Since(m.passBegan)
		m.passBegan = time.Time{}
	}
}

// running reports whether a pass is in progress.
func (m *meter) running() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.passBegan.IsZero()
}

// addWait counts the time since then as waiting.
func (m *meter) addWait(since time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waited += time.Since(since)
}

func (m *meter) read() (passed, waited time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	passed = m.inPasses
	if !m.passBegan.IsZero() {
		passed += time.Since(m.passBegan)
	}
	return passed, min(passed, m.waited)
}

// appendFrame appends a METER frame, if one is due or always is true.
func (m *meter) appendFrame(b []byte, always bool) []byte {
	m.mu.Lock()
	now := time.Now()
	if !always && now.Before(m.nextReport) {
		m.mu.Unlock()
		return b
	}
	m.nextReport = now.Add(reportEvery)
	m.mu.Unlock()
	passed, waited := m.read()
	b = appendHeader(b, wire.FrameMeter, wire.MeterSize)
	b = binary.LittleEndian.AppendUint64(b, uint64(passed))
	return binary.LittleEndian.AppendUint64(b, uint64(waited))
}

// appendHeader appends a frame's header.
func appendHeader(b []byte, kind uint32, length int) []byte {
	var header [wire.HeaderSize]byte
	wire.PutHeader(header[:], kind, length)
	return append(b, header[:]...)
}
