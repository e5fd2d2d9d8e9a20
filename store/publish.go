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

// Load is a generation that is being written.
type Load struct {
	// Dir is an empty directory on the cache's file system, the load's own.
	Dir     string
	Dataset string
	store   *Store
	abort   func() error
}

// Begin gives a place to write a generation of a dataset in. Publish or Abort ends it. The error
// wraps layout.ErrName or ErrClosed.
func (s *Store) Begin(name string) (*Load, error) {
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
	return &Load{Dir: dir, Dataset: name, store: s,
		abort: sync.OnceValue(func() error { return os.RemoveAll(dir) })}, nil
}

// Abort removes what was written. After a Publish it does nothing.
func (l *Load) Abort() error { return l.abort() }

// Publish checks what was written and makes it the dataset's newest generation, by one rename.
// Older generations that nobody reads are removed.
func (l *Load) Publish() (number int64, err error) { return l.publish(0) }

// PublishAfter is Publish for what was made from a generation: the error wraps ErrSuperseded, and
// nothing is published, where that is no longer the newest.
func (l *Load) PublishAfter(number int64) (int64, error) { return l.publish(number) }

func (l *Load) publish(after int64) (number int64, err error) {
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
	if newest := c.newest(l.Dataset); after != 0 && (newest == nil || newest.number != after) {
		c.mu.Unlock()
		return 0, fmt.Errorf("%w: generation %d of %q", ErrSuperseded, after, l.Dataset)
	}
	g := &generation{store: s, dataset: l.Dataset, number: s.nextNumber(l.Dataset),
		manifest: d.Manifest}
	g.dir = s.dir.generation(g.dataset, g.number)
	if err = os.MkdirAll(filepath.Dir(g.dir), 0o700); err == nil {
		err = s.dir.checkSameName(l.Dataset) // others may have come since Begin
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

// nextNumber is above every generation that somebody may still name. The caller holds mu.
func (s *Store) nextNumber(name string) int64 {
	last := s.catalogue.lastNumber(name)
	for { // a generation that scan could not read keeps its number
		last++
		if _, err := os.Lstat(s.dir.generation(name, last)); err != nil {
			return last
		}
	}
}

// Remove deletes every generation of a dataset. Handles on them stay valid.
func (s *Store) Remove(name string) (numbers []int64, err error) {
	s.catalogue.mu.Lock()
	if _, err := s.catalogue.find(name, 0); err != nil {
		s.catalogue.mu.Unlock()
		return nil, err
	}
	delete(s.catalogue.pins, name)
	list := slices.Clone(s.catalogue.published[name])
	for _, g := range list {
		numbers = append(numbers, g.number)
		s.catalogue.unpublish(g)
	}
	s.catalogue.mu.Unlock()
	for _, g := range list {
		g.removeFiles()
	}
	// Only an empty directory goes: what another version left there is not ours, nor what is being
	// published.
	s.catalogue.mu.Lock()
	defer s.catalogue.mu.Unlock()
	_ = os.Remove(s.dir.dataset(name))
	return numbers, nil
}
