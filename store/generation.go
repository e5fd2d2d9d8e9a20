package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tensorcache/tensorcache/layout"
)

// generation is one immutable load. The store's mu guards readers, used and gone.
type generation struct {
	store    *Store
	dataset  string
	number   int64
	dir      string
	manifest *layout.Manifest

	readers int
	used    time.Time // when the last reader came or went
	gone    bool      // no longer published: unmap when the last reader leaves

	opening sync.Mutex                  // one opener at a time, without holding the store
	data    atomic.Pointer[layout.Data] // nil before the first has opened it; changed under opening
	residency
	derived sync.Map // key → func() (any, error), which computes once

	unwritable sync.Once // warned of
}

// Handle is a reader's hold on a generation: what it shows stays mapped until Release.
type Handle struct {
	Dataset    string
	Generation int64
	Data       *layout.Data
	g          *generation
	release    func()
}

// Acquire opens a generation of a dataset for reading; number 0 is the newest. The error wraps
// ErrNotFound, ErrGone, ErrClosed, or layout's errors of opening.
func (s *Store) Acquire(name string, number int64) (*Handle, error) {
	s.catalogue.mu.Lock()
	g, err := s.catalogue.find(name, number)
	if err == nil {
		g.readers++ // keeps it while it is being opened
		g.used = time.Now()
	}
	s.catalogue.mu.Unlock()
	if err != nil {
		return nil, err
	}
	data, err := g.open()
	if err != nil {
		s.catalogue.mu.Lock()
		if g.gone { // removed while it was being opened
			err = fmt.Errorf("%w: generation %d of %q", ErrGone, g.number, name)
		}
		s.catalogue.mu.Unlock()
		s.leave(g)
		return nil, err
	}
	release, err := data.Acquire()
	if err != nil {
		s.leave(g)
		return nil, err
	}
	return &Handle{Dataset: g.dataset, Generation: g.number, Data: data, g: g,
		release: sync.OnceFunc(func() {
			release()
			s.leave(g)
		})}, nil
}

// Release ends the hold. Further calls do nothing.
func (h *Handle) Release() { h.release() }

// Derived computes something from the generation once, and keeps it as long as the generation: an
// error too, and a panic, as of a file that was cut off.
func (h *Handle) Derived(key string, compute func() (any, error)) (any, error) {
	once, _ := h.g.derived.LoadOrStore(key, sync.OnceValues(compute))
	return once.(func() (any, error))()
}

// open maps the generation, verifying it first where a reboot may have torn it.
func (g *generation) open() (*layout.Data, error) {
	g.opening.Lock()
	defer g.opening.Unlock()
	if d := g.data.Load(); d != nil {
		return d, nil
	}
	if g.store.isClosed() { // which may have looked for the map already
		return nil, ErrClosed
	}
	d, err := layout.Open(g.dir)
	if err != nil {
		return nil, fmt.Errorf("%s, generation %d: %w", g.dataset, g.number, err)
	}
	if !g.isSynced() && g.manifest.Boot != layout.BootID() {
		if err := d.Check(g.store.ctx, runtime.GOMAXPROCS(0), func(int64) {}); errors.Is(err,
			context.Canceled) {
			return nil, errors.Join(ErrClosed, d.Close())
		} else if err != nil {
			return nil, errors.Join(
				fmt.Errorf("%s, generation %d was not on disk before the last reboot: %w; remove it and load it again", g.dataset, g.number, err), d.Close())
		}
		if err := g.mark(); err != nil { // which spares the next start the checksums
			g.store.log.Warn("mark", "dir", g.dir, "error", err)
		}
	}
	g.data.Store(d)
	return d, nil
}

// unmap closes the generation's maps, waiting for whoever still reads.
func (g *generation) unmap() error {
	g.opening.Lock()
	defer g.opening.Unlock()
	d := g.data.Swap(nil)
	if d == nil {
		return nil
	}
	defer g.pinned.Store(0)
	return d.Close()
}

func (g *generation) isSynced() bool {
	_, err := os.Stat(filepath.Join(g.dir, layout.SyncedFile))
	return err == nil
}

// leave ends one reader's hold. The last one of a generation that was removed or superseded takes
// it along.
func (s *Store) leave(g *generation) {
	s.catalogue.mu.Lock()
	g.readers--
	g.used = time.Now()
	last := g.readers == 0 && !s.catalogue.closed
	superseded := last && !g.gone && s.catalogue.newest(g.dataset) != g
	if superseded {
		s.catalogue.unpublish(g)
	}
	unmap := last && g.gone
	if unmap {
		delete(s.catalogue.removed, g)
	}
	s.catalogue.mu.Unlock()
	if superseded {
		s.discard(g)
	}
	if unmap {
		if err := g.unmap(); err != nil {
			s.log.Error("unmap", "dataset", g.dataset, "generation", g.number, "error", err)
		}
	}
}
