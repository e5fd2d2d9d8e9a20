package mmapfile

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// pageSize is the size of a page of memory, in bytes.
var pageSize = int64(os.Getpagesize())

// WillNeed asks the system to read n bytes of the file into memory, without waiting. Bytes outside
// of the file are ignored, and the system may ignore the request. The caller holds an Acquire.
func (m *Map) WillNeed(offset, n int64) {
	if b := m.pagesOf(offset, n); b != nil {
		_ = unix.Madvise(b, unix.MADV_WILLNEED)
	}
}

// Populate waits until n bytes of the file are in memory, and maps their pages. It does nothing if
// the system has no call for it. The caller holds an Acquire.
func (m *Map) Populate(offset, n int64) {
	if b := m.pagesOf(offset, n); b != nil {
		_ = populate(b)
	}
}

// DisableReadAhead turns off the system's reading ahead until end, which may be called repeatedly.
// Otherwise the system also reads up to MiBs of neighbours of a missing page, which random reads do
// not need. The caller holds an Acquire until then.
func (m *Map) DisableReadAhead() (end func()) {
	m.addReadAheadOff(1)
	return sync.OnceFunc(func() { m.addReadAheadOff(-1) })
}

// IsReadAheadOff reports whether reading ahead is turned off.
func (m *Map) IsReadAheadOff() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.readAheadOff > 0
}

func (m *Map) addReadAheadOff(by int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.readAheadOff
	switch m.readAheadOff += by; {
	case before == 0:
		_ = unix.Madvise(m.data, unix.MADV_RANDOM)
	case m.readAheadOff == 0:
		_ = unix.Madvise(m.data, unix.MADV_NORMAL)
	}
}

// pagesOf returns the n bytes and those before them in their first page. It is nil if offset is
// outside of the file.
func (m *Map) pagesOf(offset, n int64) []byte {
	if offset < 0 || offset >= m.Len() || n < 1 {
		return nil
	}
	return m.data[offset/pageSize*pageSize : offset+min(n, m.Len()-offset)]
}

// Resident reports whether the page of a byte is in memory. It is true if the system does not
// report it. The caller holds an Acquire.
func (m *Map) Resident(offset int64) bool {
	b := m.pagesOf(offset, 1)
	return b == nil || resident(b)
}
