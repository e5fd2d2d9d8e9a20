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
	Readers     int // handles on any of its generations
	Memory      Residency
}

// Bytes is the size of the generation's files.
func (i Info) Bytes() int64 { return bytesOf(i.Manifest) }

// Datasets lists them all by name.
func (s *Store) Datasets() []Info {
	s.mu.Lock()
	out, newest := make([]Info, 0, len(s.datasets)), make([]*generation, 0, len(s.datasets))
	for _, name := range slices.Sorted(maps.Keys(s.datasets)) {
		i, g := s.info(name)
		out, newest = append(out, i), append(newest, g)
	}
	s.mu.Unlock()
	for i, g := range newest {
		out[i].Memory = g.describe(residencyAge)
	}
	return out
}

// Dataset describes one; the error wraps ErrNotFound.
func (s *Store) Dataset(name string) (Info, error) {
	s.mu.Lock()
	if _, err := s.find(name, 0); err != nil {
		s.mu.Unlock()
		return Info{}, err
	}
	i, g := s.info(name)
	s.mu.Unlock()
	i.Memory = g.describe(residencyAge)
	return i, nil
}

// info describes a dataset but for its memory, and gives its newest generation. The caller holds
// mu.
func (s *Store) info(name string) (Info, *generation) {
	list := s.datasets[name]
	newest := list[len(list)-1]
	i := Info{Dataset: name, Generation: newest.number, Manifest: newest.manifest}
	for _, g := range list {
		i.Generations = append(i.Generations, g.number)
		i.Readers += g.readers
	}
	return i, newest
}
