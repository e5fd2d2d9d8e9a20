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
}

// Bytes is the size of the generation's files.
func (i Info) Bytes() int64 { return bytesOf(i.Manifest) }

// Datasets lists them all by name.
func (s *Store) Datasets() []Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Info, 0, len(s.datasets))
	for _, name := range slices.Sorted(maps.Keys(s.datasets)) {
		out = append(out, s.info(name))
	}
	return out
}

// Dataset describes one; the error wraps ErrNotFound.
func (s *Store) Dataset(name string) (Info, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.find(name, 0); err != nil {
		return Info{}, err
	}
	return s.info(name), nil
}

func (s *Store) info(name string) Info {
	list := s.datasets[name]
	newest := list[len(list)-1]
	i := Info{Dataset: name, Generation: newest.number, Manifest: newest.manifest}
	for _, g := range list {
		i.Generations = append(i.Generations, g.number)
		i.Readers += g.readers
	}
	return i
}
