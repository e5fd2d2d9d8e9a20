package store

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tensorcache/tensorcache/internal/mmapfile"
	"github.com/tensorcache/tensorcache/layout"
)

// Residency is how much of a dataset's newest generation is in memory, in bytes of its files.
type Residency struct {
	Bytes    int64
	Resident int64 // exact to a page, and at most about a second old
	Known    bool  // false if the system does not report it: then Resident is 0
	Pinned   int64 // locked by Pin
}

// residencyAge is the largest age of a count that is only shown. If the system must look up each
// page, counts are older, so that counting uses at most a tenth of one core.
const residencyAge = time.Second

// residentCount is the last count of a generation's bytes in memory.
type residentCount struct {
	mu    sync.Mutex // guards the fields below; held while counting
	at    time.Time
	took  time.Duration
	bytes int64
	err   error
}

// residency describes the generation's memory by a count that is at most about as old as age.
func (g *generation) residency(age time.Duration) Residency {
	n, err := g.inMemory(age)
	return Residency{Bytes: bytesOf(g.manifest), Resident: n, Known: err == nil,
		Pinned: g.pinned.Load()}
}

// bytesOf returns the size of a generation's files.
func bytesOf(m *layout.Manifest) (n int64) {
	for _, f := range m.Files {
		n += f.Bytes
	}
	return n
}

// inMemory returns how many bytes of the generation are in memory. It counts them if the last count
// is older than age; age 0 always counts.
func (g *generation) inMemory(age time.Duration) (int64, error) {
	c := &g.resident
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); age == 0 || now.Sub(c.at) >= max(age, 9*c.took) {
		sum := int64(0)
		c.err = g.eachFile(func(f *os.File, _ *mmapfile.Map) error {
			n, err := mmapfile.InMemory(f)
			sum += n
			return err
		})
		c.at = time.Now()
		c.took = c.at.Sub(now)
		if c.bytes = sum; c.err != nil {
			c.bytes = 0
		}
	}
	return c.bytes, c.err
}

// eachFile calls do with each of the generation's files and its map, or nil if it is not mapped. It
// skips files that were removed.
func (g *generation) eachFile(do func(*os.File, *mmapfile.Map) error) (err error) {
	if d := g.data.Load(); d != nil {
		if release, closed := d.Acquire(); closed == nil {
			defer release()
			for _, m := range d.Maps() {
				err = errors.Join(err, do(m.File(), m))
			}
			return err
		}
	}
	for name := range g.manifest.Files {
		f, failed := os.Open(filepath.Join(g.dir, name))
		if failed == nil {
			failed = errors.Join(do(f, nil), f.Close())
		}
		if !errors.Is(failed, os.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// evict asks the system to evict the generation's pages. Some may stay.
func (g *generation) evict() error {
	// The system does not evict pages that are not on the disk yet.
	if !g.isSynced() && g.isOfThisBoot() {
		if err := g.sync(); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return g.eachFile(func(f *os.File, m *mmapfile.Map) error {
		if m != nil {
			return m.Evict()
		}
		return mmapfile.EvictFile(f)
	})
}

// Unload asks the system to evict the pages of all generations of a dataset. It returns what stays
// in memory of the newest one, and the number of handles on all of them. Files stay. Pages stay if
// a trainer maps them, if they are pinned, or if the file system keeps its files in memory. The
// error wraps ErrNotFound or ErrClosed.
func (s *Store) Unload(name string) (r Residency, readers int, err error) {
	s.catalogue.mu.Lock()
	newest, err := s.catalogue.find(name, 0)
	all := s.catalogue.of(name)
	for _, g := range all {
		readers += g.readers
	}
	s.catalogue.mu.Unlock()
	if err != nil {
		return r, 0, err
	}
	for _, g := range all {
		err = errors.Join(err, g.evict())
	}
	return newest.residency(0), readers, err
}
