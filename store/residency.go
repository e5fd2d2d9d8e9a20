package store

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tensorcache/tensorcache/internal/mmapfile"
	"github.com/tensorcache/tensorcache/layout"
)

// Residency is what of a dataset's newest generation is in memory, in bytes of its files.
type Residency struct {
	Bytes    int64
	Resident int64 // exact to a page, and not older than a second
	Known    bool  // false where the system does not tell: then Resident is 0
	Pinned   int64 // locked by Pin
}

// residencyAge is how old a figure may be that is only shown; or older, where each page has to be
// looked up and that takes long: counting takes a tenth of one core at most.
const residencyAge = time.Second

// residency is a generation's memory.
type residency struct {
	counting sync.Mutex // guards what follows, and keeps counts from running beside each other
	counted  time.Time
	cost     time.Duration // of counting
	resident int64
	unknown  error

	pinning sync.Mutex // one that pins or unpins at a time
	pinned  atomic.Int64

	reserved atomic.Int32 // calls of Preload and Pin that load all of it into memory
}

func (g *generation) describe(age time.Duration) Residency {
	n, err := g.inMemory(age)
	return Residency{Bytes: bytesOf(g.manifest), Resident: n, Known: err == nil,
		Pinned: g.pinned.Load()}
}

// bytesOf is the size of a generation's files.
func bytesOf(m *layout.Manifest) (n int64) {
	for _, f := range m.Files {
		n += f.Bytes
	}
	return n
}

// inMemory counts the generation's bytes that are in memory, unless that was done a short time ago.
func (g *generation) inMemory(age time.Duration) (int64, error) {
	g.counting.Lock()
	defer g.counting.Unlock()
	if now := time.Now(); age == 0 || now.Sub(g.counted) >= max(age, 9*g.cost) {
		sum := int64(0)
		g.unknown = g.each(func(f *os.File, _ *mmapfile.Map) error {
			n, err := mmapfile.InMemory(f)
			sum += n
			return err
		})
		g.counted = time.Now()
		g.cost = g.counted.Sub(now)
		if g.resident = sum; g.unknown != nil {
			g.resident = 0
		}
	}
	return g.resident, g.unknown
}

// each calls do with each of the generation's files, and its map where there is one. A generation
// whose files are being removed has none.
func (g *generation) each(do func(*os.File, *mmapfile.Map) error) (err error) {
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

// evict asks the system to evict the generation's pages, and returns how many bytes it evicted.
func (g *generation) evict() (int64, error) {
	before, _ := g.inMemory(0)
	// pages that are not on the disk yet would stay
	if !g.isSynced() && g.isOfThisBoot() {
		if err := g.sync(); err != nil && !errors.Is(err, os.ErrNotExist) {
			return 0, err
		}
	}
	err := g.each(func(f *os.File, m *mmapfile.Map) error {
		if m != nil {
			return m.Unmapped()
		}
		return mmapfile.Uncache(f)
	})
	after, _ := g.inMemory(0)
	return before - after, err
}

// Unload asks the system to give up the pages of all of a dataset's generations, and tells what is
// left of the newest. Files stay, and so do pages that trainers have mapped, that are pinned, or
// whose file system keeps its files in memory. The error wraps ErrNotFound.
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
		_, failed := g.evict()
		err = errors.Join(err, failed)
	}
	return newest.describe(0), readers, err
}
