package mmapfile

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// pageSize is the unit in which a file comes into memory.
var pageSize = int64(os.Getpagesize())

// WillNeed asks the system to read bytes of the file that are not in memory, and does not wait for
// them. It is advice: bytes outside the file and what the system thinks of it are passed over. The
// caller holds an Acquire.
func (m *Map) WillNeed(offset, n int64) {
	if b := m.pagesOf(offset, n); b != nil {
		_ = unix.Madvise(b, unix.MADV_WILLNEED)
	}
}

// Populate waits until bytes of the file are in memory and maps them, where the system can;
// elsewhere whoever reads them waits. The caller holds an Acquire.
func (m *Map) Populate(offset, n int64) {
	if b := m.pagesOf(offset, n); b != nil {
		_ = populate(b)
	}
}

// Scattered has the system read no more than what is touched or asked for, until end, which may be
// called more than once: around a page that is missing it would else read its neighbours, up to
// MiBs of them, which scattered readers never want. The caller holds an Acquire until then.
func (m *Map) Scattered() (end func()) {
	m.scatter(1)
	return sync.OnceFunc(func() { m.scatter(-1) })
}

// IsScattered tells whether anybody has called Scattered and not its end.
func (m *Map) IsScattered() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.scattered > 0
}

func (m *Map) scatter(by int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.scattered
	switch m.scattered += by; {
	case before == 0:
		_ = unix.Madvise(m.data, unix.MADV_RANDOM)
	case m.scattered == 0:
		_ = unix.Madvise(m.data, unix.MADV_NORMAL)
	}
}

// pagesOf is the map from the page on that holds the first byte; nil where there is none in the
// file.
func (m *Map) pagesOf(offset, n int64) []byte {
	if offset < 0 || offset >= m.Len() || n < 1 {
		return nil
	}
	return m.data[offset/pageSize*pageSize : offset+min(n, m.Len()-offset)]
}

// Resident tells whether the page of the file that holds a byte is in memory; true where the system
// does not say. The caller holds an Acquire.
func (m *Map) Resident(offset int64) bool {
	b := m.pagesOf(offset, 1)
	return b == nil || resident(b)
}
