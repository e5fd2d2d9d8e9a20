// Package mmapfile is the one place that maps files.
//
// A [Map] is a whole file mapped read-only; it is unmapped only after every reader has left. A
// [Writable] is a file of fixed size whose space is reserved before it is mapped, so that a full
// disk is an error at creation and never a SIGBUS at a write.
//
// # Caveats
//
// A slice of a map is valid between [Map.Acquire] and its release, and of a Writable until its
// Close. A file that another process truncates while it is mapped kills its readers, but those
// goroutines that take faults as panics (see [Lost]); the cache directory is private to its user
// for that reason.
package mmapfile

import (
	"errors"
	"fmt"
	"os"
	"sync"

	mmap "github.com/edsrzf/mmap-go"
)

// Errors of using a map.
var (
	// ErrClosed is returned by Acquire once Close was called.
	ErrClosed = errors.New("map is closed")
	// ErrRange is returned when bytes outside the file are asked for.
	ErrRange = errors.New("range is outside the file")
)

// Map is a file mapped read-only. It is safe for concurrent use.
type Map struct {
	path string
	file *os.File // nil where it was closed once it was mapped
	data mmap.MMap

	mu        sync.Mutex
	drained   *sync.Cond
	readers   int
	scattered int // who asked for Scattered
	closing   bool
	closed    bool
	err       error
}

// Open maps the whole file at path and keeps it open; an empty file is an error.
func Open(path string) (*Map, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := mapWhole(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("map %s: %w", path, err), f.Close())
	}
	m := newMap(path, data)
	m.file = f
	return m, nil
}

func newMap(path string, data mmap.MMap) *Map {
	m := &Map{path: path, data: data}
	m.drained = sync.NewCond(&m.mu)
	m.enlist()
	return m
}

func mapWhole(f *os.File) (mmap.MMap, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() == 0 {
		return nil, fmt.Errorf("%w: the file is empty", ErrRange)
	}
	return mmap.Map(f, mmap.RDONLY, 0)
}

// File is the mapped file, opened for reading only; it has no name any more once it was removed. It
// is valid between Acquire and release, and nil for a map made with [New].
func (m *Map) File() *os.File { return m.file }

// Len is the file's size in bytes.
func (m *Map) Len() int64 { return int64(len(m.data)) }

// Acquire lets a reader in, unless the map is closing: then the error is ErrClosed. Close waits for
// release, which may be called more than once.
func (m *Map) Acquire() (release func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closing {
		return nil, fmt.Errorf("%s: %w", m.path, ErrClosed)
	}
	m.readers++
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.readers--
		if m.readers == 0 {
			m.drained.Broadcast()
		}
	}), nil
}

// Readers counts those that Close would wait for.
func (m *Map) Readers() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.readers
}

// Bytes returns n bytes from offset on; ErrRange when they are not all in the file. The caller
// holds an Acquire for as long as it uses them.
func (m *Map) Bytes(offset, n int64) ([]byte, error) {
	if offset < 0 || n < 0 || offset > m.Len()-n {
		return nil, fmt.Errorf("%s: %w: bytes %d to %d of %d", m.path, ErrRange, offset,
			offset+n, m.Len())
	}
	return m.data[offset : offset+n : offset+n], nil
}

// Close refuses new readers, waits for those inside and unmaps. Further calls wait for the first
// and return its error.
func (m *Map) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closing = true
	for m.readers > 0 {
		m.drained.Wait()
	}
	if !m.closed {
		m.closed = true
		m.delist()
		m.err = m.data.Unmap()
		if m.file != nil {
			m.err = errors.Join(m.err, m.file.Close())
		}
	}
	return m.err
}
