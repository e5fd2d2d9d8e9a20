package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tensorcache/tensorcache/internal/near"
)

// catalogue is the list of all generations. mu guards its fields, and the fields readers, used and
// gone of each generation. The caller of a method holds mu.
type catalogue struct {
	mu        sync.Mutex
	closed    bool
	published map[string][]*generation // by dataset, in ascending order of numbers
	removed   map[*generation]bool     // no longer published, but still read
	pins      map[string]int           // by dataset: number of calls of Pin in effect
}

func newCatalogue() catalogue {
	return catalogue{published: map[string][]*generation{}, removed: map[*generation]bool{},
		pins: map[string]int{}}
}

// find returns a generation that is published or still read. Number 0 is the newest that is
// published. The error wraps ErrNotFound, ErrGone or ErrClosed.
func (c *catalogue) find(name string, number int64) (*generation, error) {
	if c.closed {
		return nil, ErrClosed
	}
	newest := c.newest(name)
	if number == 0 && newest != nil {
		return newest, nil
	}
	for _, g := range c.published[name] {
		if g.number == number {
			return g, nil
		}
	}
	for g := range c.removed {
		if g.dataset == name && g.number == number {
			return g, nil
		}
	}
	if newest == nil {
		return nil, c.notFound(name)
	}
	return nil, fmt.Errorf("%w: generation %d of %q; the newest is %d", ErrGone, number, name,
		newest.number)
}

// findDigest returns the newest generation, published or still read, that has the digest. The error
// wraps ErrNotFound, ErrDigest or ErrClosed.
func (c *catalogue) findDigest(name, digest string) (found *generation, err error) {
	if c.closed {
		return nil, ErrClosed
	}
	for _, g := range c.of(name) {
		if g.manifest.Digest == digest && (found == nil || g.number > found.number) {
			found = g
		}
	}
	switch newest := c.newest(name); {
	case found != nil:
		return found, nil
	case newest == nil:
		return nil, c.notFound(name)
	default:
		return nil, fmt.Errorf("%w: no generation of %q has digest %s; the newest, %d, has %s",
			ErrDigest, name, digest, newest.number, newest.manifest.Digest)
	}
}

// newest returns the newest published generation of a dataset, or nil.
func (c *catalogue) newest(name string) *generation {
	list := c.published[name]
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

// scaledCopies returns the names of the datasets that are scaled copies of a dataset, sorted.
func (c *catalogue) scaledCopies(name string) (copies []string) {
	for other := range c.published {
		of := c.newest(other).manifest.ScaledOf
		if of != nil && of.Dataset == name {
			copies = append(copies, other)
		}
	}
	slices.Sort(copies)
	return copies
}

// notFound names the dataset that was asked for, and others with a similar name.
func (c *catalogue) notFound(name string) error {
	if len(c.published) == 0 {
		return fmt.Errorf("%w: no dataset is named %q; there are none yet", ErrNotFound, name)
	}
	if names := near.Names(name, slices.Collect(maps.Keys(c.published))); len(names) > 0 {
		return fmt.Errorf("%w: no dataset is named %q; near: %s", ErrNotFound, name,
			strings.Join(names, ", "))
	}
	return fmt.Errorf("%w: no dataset is named %q; there are: %s", ErrNotFound, name,
		strings.Join(first(slices.Sorted(maps.Keys(c.published)), 5), ", "))
}

func first(names []string, n int) []string {
	if len(names) > n {
		return append(slices.Clone(names[:n]), "…")
	}
	return names
}

// all returns all generations that are published or still read.
func (c *catalogue) all() (all []*generation) {
	for _, list := range c.published {
		all = append(all, list...)
	}
	for g := range c.removed {
		all = append(all, g)
	}
	return all
}

// of is all for one dataset.
func (c *catalogue) of(name string) []*generation {
	return slices.DeleteFunc(c.all(), func(g *generation) bool { return g.dataset != name })
}

// lastNumber returns the largest number of a dataset's generations, 0 if there are none.
func (c *catalogue) lastNumber(name string) (last int64) {
	for _, g := range c.of(name) {
		last = max(last, g.number)
	}
	return last
}

// add publishes a generation.
func (c *catalogue) add(g *generation) {
	c.published[g.dataset] = append(c.published[g.dataset], g)
}

// unpublish removes a generation from those that are published.
func (c *catalogue) unpublish(g *generation) {
	list := slices.DeleteFunc(c.published[g.dataset], func(o *generation) bool { return o == g })
	if c.published[g.dataset] = list; len(list) == 0 {
		delete(c.published, g.dataset)
	}
	g.gone = true
	if g.readers > 0 {
		c.removed[g] = true
	}
}

// pinnedBytes returns how many bytes of all generations are locked in memory.
func (c *catalogue) pinnedBytes() (n int64) {
	for _, g := range c.all() {
		n += g.pinned.Load()
	}
	return n
}

// dropPin ends one call of Pin. Other calls for the dataset stay in effect.
func (c *catalogue) dropPin(name string) {
	if c.pins[name]--; c.pins[name] < 1 {
		delete(c.pins, name)
	}
}

// checkPinned returns an error unless the generation is the newest of a pinned dataset.
func (c *catalogue) checkPinned(g *generation) error {
	if c.pins[g.dataset] == 0 || c.newest(g.dataset) != g {
		return fmt.Errorf("%w: generation %d of %q is not to be pinned any more", ErrGone,
			g.number, g.dataset)
	}
	return nil
}
