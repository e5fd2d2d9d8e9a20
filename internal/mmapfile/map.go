// Package mmapfile maps files into memory. No other package does.
//
// A [Map] is a whole file mapped read-only. Close unmaps it after the last reader has released it.
// A [Writable] is a file of fixed size whose space is reserved before it is mapped, so that a full
// disk is an error when it is created and never a SIGBUS at a write.
//
// # Caveats
//
// A slice of a Map is valid between [Map.Acquire] and its release, and a slice of a Writable until
// its Close. If another process truncates a file while it is mapped, reading it kills this process,
// except in goroutines in which a fault is a panic (see [FaultError]). For that reason only the
// user can write to the cache directory.
package mmapfile

import (
	"errors"
	"fmt"
	"os"
	"sync"

	mmap "github.com/edsrzf/mmap-go"
)

// Errors of maps.
var (
	// ErrClosed is returned by Acquire after Close was called.
	ErrClosed = errors.New("map is closed")
	// ErrRange is returned for bytes outside of the file.
	ErrRange = errors.New("range is outside the file")
)

// Map is a file mapped read-only. It is safe for concurrent use.
type Map struct {
	path string
	file *os.File // nil if the file was closed after it was mapped
	data mmap.MMap

	mu           sync.Mutex
	drained      *sync.Cond
	readers      int
	readAheadOff int // calls of DisableReadAhead that have not ended
	closing      bool
	closed       bool
	err          error
}

// Open maps the whole file at path and keeps it open. An empty file is an error.
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
	m.register()
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

// File returns the mapped file, open for reading. It is valid between Acquire and release, and nil
// for a map made by [New]. The file may have been removed from its directory.
func (m *Map) File() *os.File { return m.file }

// Len returns the file's size in bytes.
func (m *Map) Len() int64 { return int64(len(m.data)) }

// Acquire keeps the file mapped until release. If Close was called before, the error is ErrClosed.
// release may be called repeatedly.
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

// Readers returns the number of calls of Acquire that were not released.
func (m *Map) Readers() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.readers
}

// Bytes returns n bytes at an offset. The error is ErrRange if they are not all inside the file.
// The caller holds an Acquire as long as it uses them.
func (m *Map) Bytes(offset, n int64) ([]byte, error) {
	if offset < 0 || n < 0 || offset > m.Len()-n {
		return nil, fmt.Errorf("%s: %w: bytes %d to %d of %d", m.path, ErrRange, offset,
			offset+n, m.Len())
	}
	return m.data[offset : offset+n : offset+n], nil
}

// Close refuses new readers, waits until all have released the file, and unmaps it. Further calls
// wait for the first and return its error.
func (m *Map) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closing = true
	for m.readers > 0 {
		m.drained.Wait()
	}
	if !m.closed {
		m.closed = true
		m.unregister()
		m.err = m.data.Unmap()
		if m.file != nil {
			m.err = errors.Join(m.err, m.file.Close())
		}
	}
	return m.err
}
