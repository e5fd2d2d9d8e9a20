package store

import (
	"context"

	"github.com/tensorcache/tensorcache/internal/mmapfile"
)

// preloadBytes is how much is waited for at once, while as much again is on its way.
const preloadBytes = 16 << 20

// Preload brings all of a dataset into memory and tells how many bytes of it are through, out of
// total. The error wraps ErrNotFound, is a *MemoryError where the dataset does not fit into the
// budget, the context's, or of reading.
func (s *Store) Preload(ctx context.Context, name string,
	progress func(done, total int64)) (h Info, err error) {
	hold, err := s.Acquire(name, 0)
	if err != nil {
		return h, err
	}
	defer hold.Release()
	release, err := s.Budget.reserveAll("preloading", hold.g)
	if err != nil {
		return h, err
	}
	defer release()
	total, before := bytesOf(hold.g.manifest), int64(0)
	for _, m := range hold.Data.Maps() {
		if err := preload(ctx, m, func(done int64) { progress(before+done, total) }); err != nil {
			return h, err
		}
		before += m.Len()
	}
	_, _ = hold.g.inMemory(0) // whoever asks next need not hear what was there before
	return Info{Dataset: name, Generation: hold.Generation, Manifest: hold.Data.Manifest}, nil
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
