package store

import (
	"context"

	"github.com/tensorcache/tensorcache/internal/mmapfile"
)

// preloadBytes is the size of one read. While the store waits for it, the system reads as much
// again ahead.
const preloadBytes = 16 << 20

// Preload reads all of a dataset's newest generation into memory. It calls progress after each read
// with the number of bytes done, out of total. The error wraps ErrNotFound, is a *MemoryError if
// the dataset does not fit into the budget, or is that of the context or of reading.
func (s *Store) Preload(ctx context.Context, name string,
	progress func(done, total int64)) (i Info, err error) {
	h, err := s.Acquire(name, 0)
	if err != nil {
		return i, err
	}
	defer h.Release()
	release, err := s.Budget.reserveAll("preloading", h.g)
	if err != nil {
		return i, err
	}
	defer release()
	total, before := bytesOf(h.g.manifest), int64(0)
	for _, m := range h.Data.Maps() {
		if err := preload(ctx, m, func(done int64) { progress(before+done, total) }); err != nil {
			return i, err
		}
		before += m.Len()
	}
	_, _ = h.g.inMemory(0) // so that the next Residency is not an older count
	return Info{Dataset: name, Generation: h.Generation, Manifest: h.Data.Manifest}, nil
}

func preload(ctx context.Context, m *mmapfile.Map, progress func(done int64)) error {
	m.WillNeed(0, preloadBytes)
	for at := int64(0); at < m.Len(); at += preloadBytes {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		m.WillNeed(at+preloadBytes, preloadBytes)
		if err := m.Read(at, preloadBytes); err != nil {
			return err
		}
		progress(min(at+preloadBytes, m.Len()))
	}
	return nil
}
