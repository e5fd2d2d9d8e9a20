package store

import (
	"context"
	"errors"
	"sync"
	"testing"
)

func TestAPinnedDatasetStaysAndItsNextGenerationIsPinned(t *testing.T) {
	s := bigStore(t)
	big(t, s, "x")
	big(t, s, "y")
	all := bytesIn(t, s, "x")
	r, limited, err := s.Pin(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	if limited != nil {
		t.Skip("this process may not lock so much:", limited)
	}
	kernel := func(want int64) {
		t.Helper()
		if n := locked(t, s.dir.path); !agree(n, want) {
			t.Errorf("%d bytes are locked by the kernel's count, want %d", n, want)
		}
	}
	if r.Pinned != all || r.Resident != all || s.Budget.Usage().Pinned != all {
		t.Errorf("%+v of %d bytes", r, all)
	}
	kernel(all)
	if r, _, err := s.Unload("x"); err != nil || r.Resident != all {
		t.Errorf("%+v stays of a pinned dataset, %v", r, err)
	}
	s.Budget.Set(2 * all)
	if left, _ := s.Budget.LeftForRings(); left != all {
		t.Errorf("%d bytes are left for rings", left)
	}
	release, err := s.Budget.ReserveLoad("new", all)
	if err != nil || resident(t, s, "x") != all || resident(t, s, "y") != 0 {
		t.Fatalf("x has %d bytes in memory and y %d, %v", resident(t, s, "x"),
			resident(t, s, "y"), err)
	}
	if _, _, err := s.Pin(t.Context(), "y"); !errors.Is(err, ErrMemory) {
		t.Errorf("got %v", err)
	}
	release()

	held := acquire(t, s, "x", 0)
	if big(t, s, "x") != 2 {
		t.Fatal("another generation")
	}
	waitFor(t, s, func() bool {
		both := s.catalogue.published["x"]
		return both[0].pinned.Load() == 0 && both[1].pinned.Load() == all
	})
	kernel(all)
	held.Release()
	if r, err := s.Unpin("x"); err != nil || r.Pinned != 0 || r.Resident > all {
		t.Errorf("%+v, %v", r, err)
	}
	kernel(0)
	if _, _, err := s.Pin(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remove("x"); err != nil {
		t.Fatal(err)
	}
	kernel(0)
	big(t, s, "x")
	if n := s.Budget.Usage().Pinned; n != 0 {
		t.Errorf("%d bytes are pinned of a dataset that was loaded after its pinned namesake was removed", n)
	}
	for name, err := range map[string]error{"pin": pinned(s.Pin(t.Context(), "z")),
		"unpin": unpinned(s.Unpin("z"))} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func pinned(_ Residency, _, err error) error { return err }
func unpinned(_ Residency, err error) error  { return err }

func TestACancelledPinLeavesNothingLocked(t *testing.T) {
	s := bigStore(t)
	big(t, s, "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Pin(ctx, "x"); !errors.Is(err, context.Canceled) ||
		locked(t, s.dir.path) != 0 || s.catalogue.pins["x"] != 0 {
		t.Errorf("%v with %d bytes locked", err, locked(t, s.dir.path))
	}
}

func TestACancelledPinEndsNoOtherPin(t *testing.T) {
	s := bigStore(t)
	big(t, s, "x")
	all := bytesIn(t, s, "x")
	ctx, cancel := context.WithCancel(t.Context())
	g := s.catalogue.published["x"][0]
	g.pinning.Lock() // so that both calls wait
	var both sync.WaitGroup
	for i, ctx := range []context.Context{ctx, t.Context()} {
		both.Go(func() {
			_, limited, err := s.Pin(ctx, "x")
			if given := i == 0; errors.Is(err, context.Canceled) != given || !given &&
				(err != nil || limited != nil) {
				t.Errorf("Pin %d: %v, limited by %v", i, err, limited)
			}
		})
		waitFor(t, s, func() bool { return s.catalogue.pins["x"] == i+1 })
	}
	cancel()
	g.pinning.Unlock()
	both.Wait()
	for range 2 {
		if n := locked(t, s.dir.path); s.catalogue.pins["x"] != 1 || !agree(n, all) {
			t.Errorf("%d pins, %d bytes locked, want one and %d", s.catalogue.pins["x"], n, all)
		}
		if _, _, err := s.Pin(ctx, "x"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
