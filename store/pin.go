package store

import (
	"context"
	"errors"
)

// Pin locks a dataset's newest generation in memory, and each generation that is published under
// the name later, until Unpin, Remove or Close. limited says why not all is locked, if the system
// does not let the process lock more. Trainers map the same pages, so their pages stay in memory
// too.
//
// The error wraps ErrNotFound, is a *MemoryError if the dataset does not fit into the budget, wraps
// ErrGone if the dataset is unpinned or removed in the meantime, or is that of the context. After
// an error Pin leaves no pages locked that were not locked before.
func (s *Store) Pin(ctx context.Context, name string) (r Residency, limited, err error) {
	s.catalogue.mu.Lock()
	g, err := s.catalogue.find(name, 0)
	if err == nil {
		s.catalogue.pins[name]++
	}
	s.catalogue.mu.Unlock()
	for err == nil {
		if limited, err = g.pin(ctx); err == nil {
			return g.residency(0), limited, nil
		}
		s.catalogue.mu.Lock()
		if errors.Is(err, ErrGone) && s.catalogue.pins[name] > 0 { // a newer one was published
			g, err = s.catalogue.find(name, 0)
		}
		if err != nil {
			s.catalogue.dropPin(name)
		}
		s.catalogue.mu.Unlock()
	}
	return r, nil, err
}

// pin locks the generation in memory. An error leaves locked what was locked before.
func (g *generation) pin(ctx context.Context) (limited, err error) {
	g.pinning.Lock()
	defer g.pinning.Unlock()
	release, err := g.store.Budget.reserveAll("pinning", g)
	if err != nil {
		return nil, err
	}
	defer release()
	h, err := g.store.Acquire(g.dataset, g.number) // a reader keeps it mapped
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

// checkPinned returns an error unless the generation is the newest of a pinned dataset.
func (g *generation) checkPinned() error {
	c := &g.store.catalogue
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.checkPinned(g)
}

// Unpin ends all calls of Pin for a dataset. The pages stay in memory until the system needs the
// memory. The error wraps ErrNotFound or ErrClosed.
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
	return newest.residency(0), err
}

// unpin ends the lock on the generation's pages.
func (g *generation) unpin() error {
	g.pinning.Lock()
	defer g.pinning.Unlock()
	return g.unlock()
}

// unlock ends the lock on the generation's pages. The caller holds pinning.
func (g *generation) unlock() error {
	if g.pinned.Swap(0) == 0 {
		return nil
	}
	d := g.data.Load()
	if d == nil {
		return nil
	}
	release, closed := d.Acquire()
	if closed != nil { // unmapped, which unlocks too
		return nil
	}
	defer release()
	var err error
	for _, m := range d.Maps() {
		err = errors.Join(err, m.Unlock())
	}
	return err
}

// pinLater unpins the older generations of a pinned dataset and pins this one, which was just
// published, in the background. The caller holds catalogue.mu.
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
