package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tensorcache/tensorcache/internal/fault"
	"github.com/tensorcache/tensorcache/layout"
)

// Staging is a generation that is being written and that no reader can see.
type Staging struct {
	// Dir is the directory to write the generation in. It is empty after Begin.
	Dir     string
	Dataset string
	store   *Store
	abort   func() error
}

// Begin creates a directory to write a generation of a dataset in. Publish or Abort ends the load.
// The error wraps layout.ErrName or ErrClosed.
func (s *Store) Begin(name string) (*Staging, error) {
	if err := layout.CheckName(name); err != nil {
		return nil, err
	}
	s.catalogue.mu.Lock()
	defer s.catalogue.mu.Unlock()
	if s.catalogue.closed {
		return nil, ErrClosed
	}
	if err := s.dir.checkSameName(name); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(s.dir.tmp(), name+"-")
	if err != nil {
		return nil, err
	}
	return &Staging{Dir: dir, Dataset: name, store: s,
		abort: sync.OnceValue(func() error { return os.RemoveAll(dir) })}, nil
}

// Abort removes the directory. After Publish it does nothing.
func (l *Staging) Abort() error { return l.abort() }

// Publish checks the files and makes them the dataset's newest generation, by one rename. It
// removes older generations that nobody reads, and returns the number of the new one. A scaled copy
// replaces only another copy of the same dataset; else the error wraps ErrSuperseded.
func (l *Staging) Publish() (number int64, err error) { return l.publish(0) }

// PublishAfter is Publish for files that were made from the generation with a number. If that is no
// longer the newest, nothing is published and the error wraps ErrSuperseded.
func (l *Staging) PublishAfter(number int64) (int64, error) { return l.publish(number) }

func (l *Staging) publish(after int64) (number int64, err error) {
	d, err := layout.Open(l.Dir)
	if err != nil {
		return 0, err
	}
	if err := d.Close(); err != nil {
		return 0, err
	}
	if err := fault.At("publish"); err != nil {
		return 0, fmt.Errorf("publish %s: %w", l.Dataset, err)
	}
	s, c := l.store, &l.store.catalogue
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return 0, ErrClosed
	}
	if of := d.Manifest.ScaledOf; of != nil && c.newest(of.Dataset) == nil {
		c.mu.Unlock()
		return 0, c.notFound(of.Dataset) // it was removed meanwhile, with its copies
	}
	newest := c.newest(l.Dataset)
	if of := d.Manifest.ScaledOf; of != nil && newest != nil && !newest.manifest.ScaledOf.IsOf(of.Dataset) {
		c.mu.Unlock()
		return 0, fmt.Errorf("%w: dataset %q, which is no copy of %q", ErrSuperseded, l.Dataset, of.Dataset)
	}
	if after != 0 && (newest == nil || newest.number != after) {
		c.mu.Unlock()
		return 0, fmt.Errorf("%w: generation %d of %q", ErrSuperseded, after, l.Dataset)
	}
	g := &generation{store: s, dataset: l.Dataset, number: s.nextNumber(l.Dataset),
		manifest: d.Manifest}
	g.dir = s.dir.generation(g.dataset, g.number)
	if err = os.MkdirAll(filepath.Dir(g.dir), 0o700); err == nil {
		err = s.dir.checkSameName(l.Dataset) // another dataset may have been published
	}
	if err == nil {
		err = os.Rename(l.Dir, g.dir)
	}
	if err != nil {
		c.mu.Unlock()
		return 0, fmt.Errorf("publish %s: %w", l.Dataset, err)
	}
	older := slices.Clone(c.published[g.dataset])
	var unread []*generation
	for _, old := range older {
		if old.readers == 0 {
			c.unpublish(old)
			unread = append(unread, old)
		}
	}
	c.add(g)
	g.syncLater()
	if c.pins[g.dataset] > 0 {
		g.pinLater(older)
	}
	c.mu.Unlock()
	for _, old := range unread {
		old.removeFiles()
	}
	return g.number, nil
}

// nextNumber returns a number above those of all generations that exist or are still read. The
// caller holds catalogue.mu.
func (s *Store) nextNumber(name string) int64 {
	last := s.catalogue.lastNumber(name)
	for { // readCatalogue may have skipped generations
		last++
		if _, err := os.Lstat(s.dir.generation(name, last)); err != nil {
			return last
		}
	}
}

// Removed is what [Store.Remove] deleted.
type Removed struct {
	Generations []int64
	Copies      []string // the names of the scaled copies of the dataset
}

// Remove deletes all generations of a dataset, and of its scaled copies. Handles on them stay valid.
// The error wraps ErrNotFound or ErrClosed.
func (s *Store) Remove(name string) (Removed, error) {
	s.catalogue.mu.Lock()
	if _, err := s.catalogue.find(name, 0); err != nil {
		s.catalogue.mu.Unlock()
		return Removed{}, err
	}
	out := Removed{Copies: s.catalogue.scaledCopies(name)}
	names := append(slices.Clone(out.Copies), name) // a crash must not leave a copy without its dataset
	var list []*generation
	for _, name := range names {
		delete(s.catalogue.pins, name)
		list = append(list, s.catalogue.published[name]...)
	}
	for _, g := range list {
		if g.dataset == name {
			out.Generations = append(out.Generations, g.number)
		}
		s.catalogue.unpublish(g)
	}
	s.catalogue.mu.Unlock()
	for _, g := range list {
		g.removeFiles()
	}
	// This removes the directories only if they are empty. Otherwise they contain files of another
	// version, or a generation that was published since.
	s.catalogue.mu.Lock()
	defer s.catalogue.mu.Unlock()
	for _, name := range names {
		_ = os.Remove(s.dir.dataset(name))
	}
	return out, nil
}
