package store

import (
	"fmt"
	"sync"
	"time"

	"github.com/tensorcache/tensorcache/layout"
)

// Handle is a reader's reference to a generation. Data stays mapped until Release.
type Handle struct {
	Dataset    string
	Generation int64
	Data       *layout.Data
	g          *generation
	release    func()

	mu    sync.Mutex
	first []func() // what Release calls before it ends the use of Data
}

// Acquire opens a generation of a dataset for reading. Number 0 is the newest. The error wraps
// ErrNotFound, ErrGone, ErrClosed, or an error of [layout.Open].
func (s *Store) Acquire(name string, number int64) (*Handle, error) {
	return s.acquire(func(c *catalogue) (*generation, error) { return c.find(name, number) })
}

// AcquireDigest opens the newest generation of a dataset that has the digest for reading, also if it is
// no longer published and only somebody reads it. The error is as that of Acquire, with ErrDigest in the
// place of ErrGone.
func (s *Store) AcquireDigest(name, digest string) (*Handle, error) {
	return s.acquire(func(c *catalogue) (*generation, error) { return c.findDigest(name, digest) })
}

func (s *Store) acquire(find func(*catalogue) (*generation, error)) (*Handle, error) {
	s.catalogue.mu.Lock()
	g, err := find(&s.catalogue)
	if err == nil {
		g.readers++ // before open, so that nobody removes or evicts it
		g.used = time.Now()
	}
	s.catalogue.mu.Unlock()
	if err != nil {
		return nil, err
	}
	data, err := g.open()
	if err != nil {
		if g.isGone() { // removed during open
			err = fmt.Errorf("%w: generation %d of %q", ErrGone, g.number, g.dataset)
		}
		g.release()
		return nil, err
	}
	release, err := data.Acquire()
	if err != nil {
		g.release()
		return nil, err
	}
	h := &Handle{Dataset: g.dataset, Generation: g.number, Data: data, g: g}
	h.release = sync.OnceFunc(func() {
		h.mu.Lock()
		first := h.first
		h.mu.Unlock()
		for _, f := range first {
			f()
		}
		release()
		g.release()
	})
	return h, nil
}

// Release ends the use of Data and of tables. Further calls do nothing.
func (h *Handle) Release() { h.release() }

// beforeRelease makes Release call f first.
func (h *Handle) beforeRelease(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.first = append(h.first, f)
}

// Derived computes a value from the generation once and stores it in memory as long as the
// generation exists. It stores an error too, and a panic, such as that of reading a file that was
// truncated.
func (h *Handle) Derived(key string, compute func() (any, error)) (any, error) {
	once, _ := h.g.derived.LoadOrStore(key, sync.OnceValues(compute))
	return once.(func() (any, error))()
}
