package store

import (
	"maps"
	"slices"

	"github.com/tensorcache/tensorcache/layout"
)

// Info describes a dataset by its newest generation.
type Info struct {
	Dataset     string
	Generation  int64
	Generations []int64
	Manifest    *layout.Manifest
	Readers     int // handles on all its generations
	Memory      Residency
	// DerivedBytes is the size of the newest generation's derived files, which Bytes leaves out.
	DerivedBytes int64
}

// Bytes returns the size of the newest generation's files.
func (i Info) Bytes() int64 { return bytesOf(i.Manifest) }

// Datasets describes all datasets, by name.
func (s *Store) Datasets() []Info {
	s.catalogue.mu.Lock()
	n := len(s.catalogue.published)
	out, newest := make([]Info, 0, n), make([]*generation, 0, n)
	for _, name := range slices.Sorted(maps.Keys(s.catalogue.published)) {
		i, g := s.catalogue.info(name)
		out, newest = append(out, i), append(newest, g)
	}
	s.catalogue.mu.Unlock()
	for i, g := range newest {
		out[i].Memory, out[i].DerivedBytes = g.residency(residencyAge), g.derivedBytes()
	}
	return out
}

// Dataset describes a dataset. The error wraps ErrNotFound or ErrClosed.
func (s *Store) Dataset(name string) (Info, error) {
	s.catalogue.mu.Lock()
	if _, err := s.catalogue.find(name, 0); err != nil {
		s.catalogue.mu.Unlock()
		return Info{}, err
	}
	i, g := s.catalogue.info(name)
	s.catalogue.mu.Unlock()
	i.Memory, i.DerivedBytes = g.residency(residencyAge), g.derivedBytes()
	return i, nil
}

// info describes a dataset except for its memory and derived files, and returns its newest
// generation.
func (c *catalogue) info(name string) (Info, *generation) {
	newest := c.newest(name)
	i := Info{Dataset: name, Generation: newest.number, Manifest: newest.manifest}
	for _, g := range c.published[name] {
		i.Generations = append(i.Generations, g.number)
		i.Readers += g.readers
	}
	return i, newest
}
