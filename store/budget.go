package store

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/dustin/go-humanize"
)

// memory is the budget and what is reserved of it; the store's mu guards both sums.
type memory struct {
	budget  int64
	rings   int64
	loading int64

	room sync.Mutex // one that makes room at a time
}

// MemoryInfo is what the store takes of the budget, in bytes.
type MemoryInfo struct {
	Budget   int64
	Resident int64 // of all generations, those too that are only held
	Rings    int64
	Loading  int64 // of loads under way
	Pinned   int64
}

// MemoryError is returned where more is asked for than the budget has, after all was counted that
// may be given up.
type MemoryError struct {
	// What needs the memory, as "loading etth1".
	What               string
	Need, Have, Budget int64
}

func (e *MemoryError) Error() string {
	size := func(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }
	return fmt.Sprintf("%s needs %s, the memory budget has %s left of %s", e.What, size(e.Need),
		size(e.Have), size(e.Budget))
}

// Unwrap makes errors.Is(err, ErrMemory) true.
func (e *MemoryError) Unwrap() error { return ErrMemory }

// SetBudget bounds the memory of datasets and rings together; before, there is no bound.
func (s *Store) SetBudget(bytes int64) {
	s.catalogue.mu.Lock()
	defer s.catalogue.mu.Unlock()
	s.budget = bytes
}

// Memory tells what is taken of the budget.
func (s *Store) Memory() MemoryInfo {
	s.catalogue.mu.Lock()
	i := MemoryInfo{Budget: s.budget, Rings: s.rings, Loading: s.loading, Pinned: s.catalogue.pinnedBytes()}
	all := s.catalogue.all()
	s.catalogue.mu.Unlock()
	for _, g := range all {
		n, _ := g.inMemory(residencyAge)
		i.Resident += n
	}
	return i
}

// RingRoom is how many bytes rings may still take: pages of datasets give way to them, but pinned
// ones.
func (s *Store) RingRoom() (room, budget int64) {
	s.catalogue.mu.Lock()
	defer s.catalogue.mu.Unlock()
	return max(0, s.budget-s.rings-s.catalogue.pinnedBytes()), s.budget
}

// AddRing counts a ring until remove, which may be called more than once.
func (s *Store) AddRing(bytes int64) (remove func()) { return s.reserve(&s.rings, bytes) }

func (s *Store) reserve(sum *int64, bytes int64) (release func()) {
	s.catalogue.mu.Lock()
	defer s.catalogue.mu.Unlock()
	*sum += bytes
	return sync.OnceFunc(func() {
		s.catalogue.mu.Lock()
		defer s.catalogue.mu.Unlock()
		*sum -= bytes
	})
}

// ReserveLoad makes room for a load of a dataset that is going to take so many bytes, and counts
// them until release, which may be called more than once. The error is a *MemoryError.
func (s *Store) ReserveLoad(name string, bytes int64) (release func(), err error) {
	s.room.Lock()
	defer s.room.Unlock()
	if err := s.makeRoom("loading "+name, bytes, nil); err != nil {
		return nil, err
	}
	return s.reserve(&s.loading, bytes), nil
}

// admit makes room for all of a generation, and counts it as if it were in memory until leave.
func (s *Store) admit(what string, g *generation) (leave func(), err error) {
	s.room.Lock()
	defer s.room.Unlock()
	if g.coming.Load() == 0 {
		here, _ := g.inMemory(0)
		if err := s.makeRoom(what+" "+g.dataset, bytesOf(g.manifest)-here, g); err != nil {
			return nil, err
		}
	}
	g.coming.Add(1)
	return sync.OnceFunc(func() { g.coming.Add(-1) }), nil
}

// weight is what a generation takes.
type weight struct {
	*generation
	bytes int64
	keep  bool // somebody reads it, or wants it in memory
}

// makeRoom sees to it that so many bytes more fit into the budget: it has the pages of generations
// that nobody reads given up, least recently used first, and none where that would not be enough.
// Those of keep stay. The caller holds room.
func (s *Store) makeRoom(what string, need int64, keep *generation) error {
	s.catalogue.mu.Lock()
	budget, taken, files := s.budget, s.rings+s.loading, int64(0)
	var all []weight
	for _, g := range s.catalogue.all() {
		w := weight{generation: g, bytes: bytesOf(g.manifest), keep: g == keep || g.readers > 0 ||
			g.coming.Load() > 0 || g.pinned.Load() > 0}
		files += w.bytes
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b weight) int {
		return cmp.Or(a.used.Compare(b.used), a.manifest.Created.Compare(b.manifest.Created))
	})
	s.catalogue.mu.Unlock()
	if taken+files <= budget-need { // whatever is in memory
		return nil
	}
	var resident, kept int64
	for i := range all {
		w := &all[i]
		if w.coming.Load() == 0 {
			w.bytes, _ = w.inMemory(0)
		}
		resident += w.bytes
		if w.keep {
			kept += w.bytes
		}
	}
	refusal := &MemoryError{What: what, Need: need, Have: budget - taken - kept, Budget: budget}
	if need > refusal.Have {
		return refusal
	}
	for _, w := range all {
		if resident <= budget-taken-need {
			break
		}
		if w.keep || w.bytes == 0 {
			continue
		}
		dropped, err := w.drop()
		resident -= dropped
		s.log.Info("gave up pages of a dataset that nobody reads", "dataset", w.dataset,
			"generation", w.number, "bytes", dropped, "error", err)
	}
	// a file system in memory keeps what it has
	if refusal.Have = budget - taken - resident; need > refusal.Have {
		return refusal
	}
	return nil
}
