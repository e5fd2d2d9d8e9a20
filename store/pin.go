package store

import (
	"context"
	"errors"
)

// Pin locks a dataset's newest generation in memory, and from then on each one that is published
// under the name, until Unpin, Remove or the end of the process. It is done as far as the process
// may: limited is why not all is locked. The error wraps ErrNotFound, is ErrGone where it is
// unpinned or removed meanwhile, a *MemoryError where the dataset does not fit into the budget, or
// the context's; then nothing is pinned that was not before. Trainers share the pages: what is
// locked here stays in memory for them.
func (s *Store) Pin(ctx context.Context, name string) (r Residency, limited, err error) {
	s.catalogue.mu.Lock()
	g, err := s.catalogue.find(name, 0)
	if err == nil {
		s.catalogue.pins[name]++
	}
	s.catalogue.mu.Unlock()
	for err == nil {
		if limited, err = g.pin(ctx); err == nil {
			return g.describe(0), limited, nil
		}
		s.catalogue.mu.Lock()
		if errors.Is(err, ErrGone) && s.catalogue.pins[name] > 0 { // another was published meanwhile
			g, err = s.catalogue.find(name, 0)
		}
		if err != nil {
			s.catalogue.dropPin(name)
		}
		s.catalogue.mu.Unlock()
	}
	return r, nil, err
}

// pin locks a generation. Where that is stopped, what was locked before stays.
func (g *generation) pin(ctx context.Context) (limited, err error) {
	g.pinning.Lock()
	defer g.pinning.Unlock()
	release, err := g.store.Budget.reserveAll("pinning", g)
	if err != nil {
		return nil, err
	}
	defer release()
	h, err := g.store.Acquire(g.dataset, g.number) // as a reader: it stays while it is locked
	if err != nil {
		return nil, err
	}
	defer h.Release()
	stop := func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return g.checkPinned()
	}
	before, total := g.pinned.Load(), int64(0)
	for _, m := range h.Data.Maps() {
		n, err := m.Lock(stop)
		total += n
		g.pinned.Store(max(before, total))
		if stopped := stop(); stopped != nil {
			if before > 0 && g.checkPinned() == nil {
				return nil, stopped
			}
			return nil, errors.Join(stopped, g.unlock())
		}
		if err != nil {
			return err, nil
		}
	}
	return nil, nil
}

// checkPinned returns an error unless a generation is the newest of a pinned dataset.
func (g *generation) checkPinned() error {
	c := &g.store.catalogue
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.checkPinned(g)
}

// Unpin ends a Pin. The pages stay in memory as long as the system has room. The error wraps
// ErrNotFound.
func (s *Store) Unpin(name string) (Residency, error) {
	s.catalogue.mu.Lock()
	newest, err := s.catalogue.find(name, 0)
	delete(s.catalogue.pins, name)
	all := s.catalogue.of(name)
	s.catalogue.mu.Unlock()
	if err != nil {
		return Residency{}, err
	}
	for _, g := range all {
		err = errors.Join(err, g.unpin())
	}
	return newest.describe(0), err
}

func (g *generation) unpin() error {
	g.pinning.Lock()
	defer g.pinning.Unlock()
	return g.unlock()
}

// unlock ends the lock on a generation's maps. The caller holds pinning.
func (g *generation) unlock() error {
	if g.pinned.Swap(0) == 0 {
		return nil
	}
	d := g.data.Load()
	if d == nil {
		return nil
	}
	release, closed := d.Acquire()
	if closed != nil { // unmapped, and so unlocked
		return nil
	}
	defer release()
	var err error
	for _, m := range d.Maps() {
		err = errors.Join(err, m.Unlock())
	}
	return err
}

// repinLater passes a pin on from older generations to the one that was just published. The caller
// holds mu.
func (g *generation) pinLater(older []*generation) {
	s := g.store
	s.background.Go(func() {
		for _, old := range older {
			if err := old.unpin(); err != nil {
				s.log.Warn("unpin", "dataset", old.dataset, "generation", old.number, "error", err)
			}
		}
		limited, err := g.pin(s.ctx)
		if err = errors.Join(limited, err); err != nil && s.ctx.Err() == nil {
			s.log.Warn("pin", "dataset", g.dataset, "generation", g.number, "error", err)
		}
	})
}
