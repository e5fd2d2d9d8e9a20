// Package store owns the cache directory: which datasets there are, their generations, how a new
// one is published and when an old one may go.
//
// A [Store] is the directory, locked for one process. [Store.Begin] gives a place to write a
// generation in, and [Load.Publish] makes it visible, whole, by one rename. [Store.Acquire] gives a
// [Handle] on a generation, mapped; what a handle shows stays mapped until its Release, whatever is
// published or removed meanwhile.
//
// The store keeps to a memory budget: [Store.Dataset] says what of a dataset is in memory, and
// where a load or a preload needs more than there is, the pages of generations that nobody reads
// are given up, those first that were not read for longest. Files are never deleted for it. What is
// mapped and read is the kernel's to keep or to give up; only pinned datasets and rings are sure of
// their memory.
//
// # Caveats
//
// Publishing does not wait for the disk: the files are synced afterwards and marked with a file
// named synced. A generation without the mark from before a reboot is verified by its checksums
// when it is first used.
package store

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"sync"

	"github.com/tensorcache/tensorcache/layout"
)

// Errors of using a store.
var (
	// ErrLocked is returned by Open when another process has the directory. The message says which.
	ErrLocked = errors.New("cache directory is in use")
	// ErrNotFound is returned when no dataset has the name. The message lists near names.
	ErrNotFound = errors.New("dataset not found")
	// ErrGone is returned when the dataset exists but the generation does not, or no longer.
	ErrGone = errors.New("generation is gone")
	// ErrSuperseded is returned by PublishAfter when another generation has been published since,
	// or the dataset was removed.
	ErrSuperseded = errors.New("generation is no longer the newest")
	// ErrFilesystem is returned by Open for a cache directory on a network file system.
	ErrFilesystem = errors.New("cache directory is on a network file system")
	// ErrClosed is returned once Close was called.
	ErrClosed = errors.New("store is closed")
)

// Store is a cache directory held by this process. It is safe for concurrent use.
type Store struct {
	dir directory
	log *slog.Logger

	catalogue catalogue
	// Budget is the store's memory budget.
	Budget *Budget

	ctx        context.Context // of what goes on in the background
	cancel     context.CancelFunc
	background sync.WaitGroup
}

// Open takes the directory, creating it (0700) where needed, removes what a killed load left, and
// reads the catalogue. The error wraps ErrLocked when another process has it.
func Open(dir string, log *slog.Logger) (*Store, error) {
	d, err := openDirectory(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: d, log: log, catalogue: newCatalogue()}
	s.Budget = newBudget(&s.catalogue, log)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err = s.dir.removeUnfinished(log); err == nil {
		err = s.scan()
	}
	if err != nil {
		return nil, errors.Join(err, s.dir.close())
	}
	return s, nil
}

// Dir is the cache directory's absolute path.
func (s *Store) Dir() string { return s.dir.path }

// scan reads the catalogue. A generation that cannot be read is left out and logged: it may be
// another version's, and only rm deletes.
func (s *Store) scan() error {
	names, err := os.ReadDir(s.dir.datasets())
	if err != nil {
		return err
	}
	for _, name := range names {
		numbers, err := os.ReadDir(s.dir.dataset(name.Name()))
		if err != nil || layout.CheckName(name.Name()) != nil {
			continue
		}
		for _, e := range numbers {
			number, err := strconv.ParseInt(e.Name(), 10, 64)
			if err != nil || number < 1 {
				continue
			}
			dir := s.dir.generation(name.Name(), number)
			m, err := layout.ReadManifest(dir)
			if err != nil {
				s.log.Warn("left out a generation", "dir", dir, "error", err)
				continue
			}
			g := &generation{store: s, dataset: name.Name(), number: number, dir: dir, manifest: m}
			s.catalogue.add(g)
			g.syncLater()
		}
		slices.SortFunc(s.catalogue.published[name.Name()],
			func(a, b *generation) int { return int(a.number - b.number) })
	}
	return nil
}

// Close refuses new handles, waits until all are released, unmaps all files and unlocks the
// directory. Further calls do nothing.
func (s *Store) Close() error {
	c := &s.catalogue
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	s.cancel()
	all := c.all()
	c.mu.Unlock()

	s.background.Wait()
	var err error
	for _, g := range all {
		err = errors.Join(err, g.unmap())
	}
	return errors.Join(err, s.dir.close())
}

func (s *Store) isClosed() bool {
	s.catalogue.mu.Lock()
	defer s.catalogue.mu.Unlock()
	return s.catalogue.closed
}
