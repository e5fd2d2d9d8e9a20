package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tensorcache/tensorcache/layout"
)

// generation is one load of a dataset. Its files do not change.
//
// Mutexes are acquired in this order: pinning, Budget.evicting, then one of opening and
// resident.mu, then catalogue.mu.
type generation struct {
	store    *Store
	dataset  string
	number   int64
	dir      string
	manifest *layout.Manifest

	// The store's catalogue.mu guards readers, used and gone.
	readers int
	used    time.Time // when a reader last came or went
	gone    bool      // not published any more: the last reader to leave unmaps it

	opening sync.Mutex                  // guards changes of data
	data    atomic.Pointer[layout.Data] // nil until the first reader maps the files

	resident residentCount
	pinning  sync.Mutex   // held by the one call that pins or unpins
	pinned   atomic.Int64 // bytes that are locked in memory; changed with pinning held
	reserved atomic.Int32 // calls of Preload and Pin that load all of the generation into memory

	derived    sync.Map  // values of Handle.Derived: key → func() (any, error)
	tables     tables    // of Handle.Table; its mutex is never held together with others
	unwritable sync.Once // logs once that derived files cannot be written
}

// open maps the files. If they were written before a reboot and never synced, it checks their
// checksums first.
func (g *generation) open() (*layout.Data, error) {
	g.opening.Lock()
	defer g.opening.Unlock()
	if d := g.data.Load(); d != nil {
		return d, nil
	}
	if g.store.isClosed() { // Close may have called unmap already
		return nil, ErrClosed
	}
	d, err := layout.Open(g.dir)
	if err != nil {
		return nil, fmt.Errorf("%s, generation %d: %w", g.dataset, g.number, err)
	}
	if !g.isSynced() && !g.isOfThisBoot() {
		if err := d.Check(g.store.ctx, runtime.GOMAXPROCS(0), func(int64) {}); errors.Is(err,
			context.Canceled) {
			return nil, errors.Join(ErrClosed, d.Close())
		} else if err != nil {
			return nil, errors.Join(
				fmt.Errorf("%s, generation %d was not on disk before the last reboot: %w; remove it and load it again", g.dataset, g.number, err), d.Close())
		}
		if err := g.markSynced(); err != nil { // the next start needs no checksums
			g.store.log.Warn("mark", "dir", g.dir, "error", err)
		}
	}
	g.data.Store(d)
	return d, nil
}

// unmap waits until no reader uses the maps, and closes them.
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

// release ends one read. The last reader of a generation that is superseded removes it, and the
// last one of a generation that is gone unmaps it.
func (g *generation) release() {
	c := &g.store.catalogue
	c.mu.Lock()
	g.readers--
	g.used = time.Now()
	last := g.readers == 0 && !c.closed
	superseded := last && !g.gone && c.newest(g.dataset) != g
	if superseded {
		c.unpublish(g)
	}
	unmap := last && g.gone
	if unmap {
		delete(c.removed, g)
	}
	c.mu.Unlock()
	if superseded {
		g.removeFiles()
	}
	if unmap {
		g.unmapOrLog()
	}
}

// removeFiles deletes the files of a generation that is not published any more, and unmaps them if
// nobody reads them.
func (g *generation) removeFiles() {
	if err := g.store.dir.remove(g.dir); err != nil {
		g.store.log.Error("remove", "dir", g.dir, "error", err)
	}
	g.store.catalogue.mu.Lock()
	unread := g.readers == 0
	g.store.catalogue.mu.Unlock()
	if unread {
		g.unmapOrLog()
	}
}

func (g *generation) unmapOrLog() {
	if err := g.unmap(); err != nil {
		g.store.log.Error("unmap", "dataset", g.dataset, "generation", g.number, "error", err)
	}
}

// isGone reports whether the generation is not published any more.
func (g *generation) isGone() bool {
	g.store.catalogue.mu.Lock()
	defer g.store.catalogue.mu.Unlock()
	return g.gone
}
