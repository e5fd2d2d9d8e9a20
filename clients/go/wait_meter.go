package tensorcache

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// reportEvery is how often the daemon is told of the trainer's waiting, at most.
const reportEvery = 250 * time.Millisecond

// meter is the trainer's clock: how long it is inside passes, and how much of that it waits for
// data.
type meter struct {
	mu               sync.Mutex
	inPasses, waited time.Duration
	passBegan        time.Time // of the pass; zero where none runs
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

// running tells whether a pass is under way.
func (m *meter) running() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.passBegan.IsZero()
}

// wait counts the time since then as waited.
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

// appendFrame appends a METER frame, unless the daemon was told a moment ago.
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
