package store

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/tensorcache/tensorcache/layout"
)

// TestReadersSeeTheirValuesDuringEvictionAndPinning reads a dataset while other goroutines publish
// generations of it, unload, preload, pin and unpin it, and reserve memory for loads.
func TestReadersSeeTheirValuesDuringEvictionAndPinning(t *testing.T) {
	s := bigStore(t)
	big(t, s, "other")
	big(t, s, "x")
	s.Budget.Set(3 * bytesIn(t, s, "x"))
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	again := func(do func() error) {
		all.Go(func() {
			for ctx.Err() == nil {
				if err := do(); err != nil && ctx.Err() == nil && !errors.Is(err, ErrMemory) &&
					!errors.Is(err, ErrGone) {
					t.Error(err)
					return
				}
			}
		})
	}
	again(func() error { _, _, err := s.Unload("x"); return err })
	again(func() error { _, err := s.Preload(ctx, "x", func(_, _ int64) {}); return err })
	again(func() error {
		_, _, err := s.Pin(ctx, "x")
		_, unpinned := s.Unpin("x")
		return errors.Join(err, unpinned)
	})
	again(func() error {
		release, err := s.Budget.ReserveLoad("new", 1<<20)
		if err == nil {
			release()
		}
		return err
	})
	again(func() error { s.Datasets(); s.Budget.Usage(); return nil })
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for range 20 {
				h, err := s.Acquire("x", 0)
				if err != nil {
					t.Error(err)
					return
				}
				c, err := h.Data.Manifest.Column("a")
				if err != nil {
					t.Error(err)
				}
				v, err := layout.View[float32](h.Data, c)
				if err != nil {
					t.Error(err)
				}
				for i := 0; i < bigRows; i += 64 {
					if v.Data[i] != 0 {
						t.Errorf("row %d is %v", i, v.Data[i])
						break
					}
				}
				h.Release()
			}
		})
	}
	for range 3 {
		big(t, s, "x")
	}
	readers.Wait()
	stop()
	all.Wait()
	if _, err := s.Unpin("x"); err != nil {
		t.Error(err)
	}
	if n := locked(t, s.dir.path); n != 0 {
		t.Errorf("%d bytes stay locked", n)
	}
}
