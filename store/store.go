// Package store manages the cache directory: which datasets and generations exist, how a new
// generation is published, and when an old one is removed.
//
// A [Store] is the directory, locked for one process. [Store.Begin] creates a directory to write a
// generation in, and [Staging.Publish] makes the generation visible by one rename. [Store.Acquire]
// returns a [Handle] on a generation. Its data stays mapped until [Handle.Release], even if the
// generation is replaced or removed in the meantime.
//
// A store has a memory [Budget]. If a load, a preload or a pin needs more memory than the budget
// has left, the store evicts the pages of generations that nobody reads, least recently used first.
// It never deletes files to free memory. The kernel decides which pages of mapped files stay in
// memory; only pinned datasets and rings are sure to stay.
//
// # Caveats
//
// Publishing does not wait for the disk. The store syncs the files later and marks the generation
// with a file named synced. If a generation has no mark and was written before a reboot, its first
// reader verifies the checksums.
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

// Errors of Open.
var (
	// ErrLocked is returned when another process uses the directory. The message says which.
	ErrLocked = errors.New("cache directory is in use")
	// ErrFilesystem is returned for a cache directory on a network file system.
	ErrFilesystem = errors.New("cache directory is on a network file system")
)

// Errors of finding a generation.
var (
	// ErrNotFound is returned when no dataset has the name. The message lists similar names.
	ErrNotFound = errors.New("dataset not found")
	// ErrGone is returned when the dataset exists, but the generation does not, or was removed.
	ErrGone = errors.New("generation is gone")
	// ErrDigest is returned when the dataset exists, but no generation of it has the digest.
	ErrDigest = errors.New("content is gone")
	// ErrSuperseded is returned by [Load.PublishAfter] when another generation was published since,
	// or when the dataset was removed; and for a scaled copy, if another dataset has its name.
	ErrSuperseded = errors.New("generation is no longer the newest")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("store is closed")
)

// Store is a cache directory that this process has locked. It is safe for concurrent use.
type Store struct {
	// Budget is the memory budget of the store.
	Budget *Budget

	dir       directory
	log       *slog.Logger
	catalogue catalogue

	background sync.WaitGroup  // goroutines that sync and pin
	ctx        context.Context // of those goroutines
	cancel     context.CancelFunc
}

// Open locks the directory and reads which generations exist. It creates the directory (0700) if it
// does not exist, and removes the files of loads that were killed. The error wraps ErrLocked or
// ErrFilesystem.
func Open(dir string, log *slog.Logger) (*Store, error) {
	d, err := openDirectory(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: d, log: log, catalogue: newCatalogue()}
	s.Budget = newBudget(&s.catalogue, log)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err = s.dir.removeUnfinished(log); err == nil {
		err = s.readCatalogue()
	}
	if err != nil {
		return nil, errors.Join(err, s.dir.close())
	}
	return s, nil
}

// Dir returns the absolute path of the cache directory.
func (s *Store) Dir() string { return s.dir.path }

// readCatalogue adds the generations in the directory to the catalogue. It logs and skips a
// generation that it cannot read, which may be of another version: only Remove deletes.
func (s *Store) readCatalogue() error {
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
