package store

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"

	"github.com/dustin/go-humanize"
)

// ErrMemory is wrapped by every [MemoryError].
var ErrMemory = errors.New("not enough memory")

// MemoryError is returned when a load, a preload or a pin needs more memory than the budget has
// left, even after the pages of all datasets without readers are evicted.
type MemoryError struct {
	// What needs the memory, as "loading etth1".
	What               string
	Need, Have, Budget int64 // bytes
}

func (e *MemoryError) Error() string {
	size := func(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }
	return fmt.Sprintf("%s needs %s, the memory budget has %s left of %s", e.What, size(e.Need),
		size(e.Have), size(e.Budget))
}

// Unwrap makes errors.Is(err, ErrMemory) true.
func (e *MemoryError) Unwrap() error { return ErrMemory }

// Budget limits the memory of a store's datasets and of the rings of its readers. Initially there
// is no limit. It is safe for concurrent use.
type Budget struct {
	catalogue *catalogue
	log       *slog.Logger

	// evicting is held by the one call that evicts. It is acquired after generation.pinning and
	// before all other mutexes.
	evicting sync.Mutex
	// mu guards limit, rings and loading. It is never held together with catalogue.mu.
	mu                    sync.Mutex
	limit, rings, loading int64
}

func newBudget(c *catalogue, log *slog.Logger) *Budget {
	return &Budget{catalogue: c, log: log, limit: math.MaxInt64}
}

// Usage is how much memory a store uses, in bytes.
type Usage struct {
	Budget   int64
	Resident int64 // of all generations, including those that are removed and still read
	Rings    int64
	Loading  int64 // reserved by loads that are running, and while tables are made
	Pinned   int64
}

// Set sets the limit in bytes.
func (b *Budget) Set(bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.limit = bytes
}

// Usage returns how much memory is in use. Resident is at most about a second old.
func (b *Budget) Usage() Usage {
	b.mu.Lock()
	u := Usage{Budget: b.limit, Rings: b.rings, Loading: b.loading}
	b.mu.Unlock()
	b.catalogue.mu.Lock()
	u.Pinned = b.catalogue.pinnedBytes()
	all := b.catalogue.all()
	b.catalogue.mu.Unlock()
	for _, g := range all {
		n, _ := g.inMemory(residencyAge)
		u.Resident += n
	}
	return u
}

// LeftForRings returns how many bytes more rings may use, and the limit. Page cache is evicted for
// rings, except for pinned pages.
func (b *Budget) LeftForRings() (left, limit int64) {
	b.catalogue.mu.Lock()
	pinned := b.catalogue.pinnedBytes()
	b.catalogue.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(0, b.limit-b.rings-pinned), b.limit
}

// AddRing counts a ring until release is called. Further calls of release do nothing.
func (b *Budget) AddRing(bytes int64) (release func()) { return b.reserve(&b.rings, bytes) }

// reserve adds to a sum until release is called.
func (b *Budget) reserve(sum *int64, bytes int64) (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*sum += bytes
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		*sum -= bytes
	})
}

// ReserveLoad evicts pages until a load of a dataset has as many bytes as it needs, and counts them
// until release is called. Further calls of release do nothing. The error is a *MemoryError.
func (b *Budget) ReserveLoad(name string, bytes int64) (release func(), err error) {
	return b.reserveWork("loading "+name, bytes, nil)
}

// reserveWork is ReserveLoad for other work. It evicts no pages of keep.
func (b *Budget) reserveWork(what string, bytes int64, keep *generation) (release func(),
	err error) {
	b.evicting.Lock()
	defer b.evicting.Unlock()
	if err := b.evict(what, bytes, keep); err != nil {
		return nil, err
	}
	return b.reserve(&b.loading, bytes), nil
}

// reserveAll evicts pages of other generations until all of this one fits into the budget. Until
// release is called it counts as entirely in memory. The error is a *MemoryError.
func (b *Budget) reserveAll(what string, g *generation) (release func(), err error) {
	b.evicting.Lock()
	defer b.evicting.Unlock()
	if g.reserved.Load() == 0 {
		resident, _ := g.inMemory(0)
		need := bytesOf(g.manifest) - resident
		if err := b.evict(what+" "+g.dataset, need, g); err != nil {
			return nil, err
		}
	}
	g.reserved.Add(1)
	return sync.OnceFunc(func() { g.reserved.Add(-1) }), nil
}

// memoryUse is the memory of a generation.
type memoryUse struct {
	*generation
	bytes int64
	inUse bool // read, reserved or pinned: must not be evicted
}

// evict makes sure that so many bytes more fit into the budget. It evicts the pages of generations
// that are not in use, least recently used first, and none of keep. If even that is not enough it
// evicts nothing. The caller holds evicting.
func (b *Budget) evict(what string, need int64, keep *generation) error {
	// The sums come before the catalogue: a load that is published in between counts twice, not
	// zero times.
	b.mu.Lock()
	limit, taken := b.limit, b.rings+b.loading
	b.mu.Unlock()
	all, files := b.memoryUses(keep)
	if taken+files <= limit-need { // even if all files are in memory
		return nil
	}
	var resident, inUse int64
	for i := range all {
		c := &all[i]
		if c.reserved.Load() == 0 {
			c.bytes, _ = c.inMemory(0)
		}
		resident += c.bytes
		if c.inUse {
			inUse += c.bytes
		}
	}
	refusal := &MemoryError{What: what, Need: need, Have: limit - taken - inUse, Budget: limit}
	if need > refusal.Have {
		return refusal
	}
	for _, c := range all {
		if resident <= limit-taken-need {
			break
		}
		if c.inUse || c.bytes == 0 {
			continue
		}
		err := c.evict()
		stay, unknown := c.inMemory(0)
		if unknown != nil {
			stay = c.bytes
		}
		evicted := c.bytes - stay // with what the system dropped after the count above
		resident -= evicted
		b.log.Info("evicted pages of a dataset that nobody reads", "dataset", c.dataset,
			"generation", c.number, "bytes", evicted, "error", err)
	}
	// A file system in memory evicts nothing.
	if refusal.Have = limit - taken - resident; need > refusal.Have {
		return refusal
	}
	return nil
}

// memoryUses returns all generations, least recently used first, with the sizes of their files, and the
// sum of the sizes. keep counts as in use.
func (b *Budget) memoryUses(keep *generation) (all []memoryUse, files int64) {
	b.catalogue.mu.Lock()
	defer b.catalogue.mu.Unlock()
	for _, g := range b.catalogue.all() {
		c := memoryUse{generation: g, bytes: bytesOf(g.manifest), inUse: g == keep || g.readers > 0 ||
			g.reserved.Load() > 0 || g.pinned.Load() > 0}
		files += c.bytes
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b memoryUse) int {
		return cmp.Or(a.used.Compare(b.used), a.manifest.Created.Compare(b.manifest.Created))
	})
	return all, files
}
