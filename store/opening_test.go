package store

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// waitFor waits until a condition is true, which it checks with the catalogue's mu held.
func waitFor(t *testing.T, s *Store, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; runtime.Gosched() {
		s.catalogue.mu.Lock()
		ok := condition()
		s.catalogue.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(end) {
			t.Fatal("timeout")
		}
	}
}

// TestAcquireFailsIfTheGenerationIsRemovedOrTheStoreClosed delays a call of Acquire before it maps
// the files. In the meantime the dataset is removed, or the store closed.
func TestAcquireFailsIfTheGenerationIsRemovedOrTheStoreClosed(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(*Store) error
		ended func(*Store, *generation) bool
		want  error
		says  string
	}{
		"removed": {
			func(s *Store) error { _, err := s.Remove("x"); return err },
			func(_ *Store, g *generation) bool { _, err := os.Stat(g.dir); return err != nil },
			ErrGone, `generation 1 of "x"`,
		},
		"closed": {(*Store).Close, func(s *Store, _ *generation) bool { return s.catalogue.closed },
			ErrClosed, "closed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			publish(t, s, "x", 1)
			g := s.catalogue.published["x"][0]
			g.opening.Lock()
			var all sync.WaitGroup
			all.Go(func() {
				h, err := s.Acquire("x", 0)
				if err == nil {
					h.Release()
					t.Error("it is opened")
				} else if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("got %v, want %v", err, c.want)
				}
			})
			waitFor(t, s, func() bool { return g.readers == 1 })
			all.Go(func() {
				if err := c.end(s); err != nil {
					t.Error(err)
				}
			})
			waitFor(t, s, func() bool { return c.ended(s, g) })
			g.opening.Unlock()
			all.Wait()
		})
	}
}
