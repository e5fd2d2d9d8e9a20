package tensorcache

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/window"
)

// standing stops the daemon, and waits until that shows.
func standing(t *testing.T, c *Cache) {
	t.Helper()
	stopped(t, c.control.Daemon.PID, syscall.SIGSTOP)
	until(t, "the daemon stands still", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		var h wire.Health
		return errors.Is(c.control.Get(ctx, "/v1/health", &h), context.DeadlineExceeded)
	})
}

// hanging waits until a feed's loop waits for another stream.
func hanging(t *testing.T, f *Feed[float32]) {
	until(t, "an exchange is under way", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.cancelAttach != nil
	})
}

func TestAContextEndsAnExchangeAndLeavesTheFeedWhole(t *testing.T) {
	c := started(t)
	w := ramp(t, c, 400, window.Spec{})
	o := FeedOptions{Order: "shuffle", Slots: 3}
	f := feedOf(t, w, o)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var cancelling sync.WaitGroup
	var state Cursor
	got, err := served(t, ctx, f, func(n int, _ *Batch[float32]) {
		if n == 5 {
			state = f.State()
			standing(t, c)
			f.want.slots = 9
			cancelling.Go(func() {
				hanging(t, f)
				if now := f.State(); now != state || f.Delivery() != DeliverSlot {
					t.Errorf("while another stream is waited for: %+v, want %+v", now, state)
				}
				cancel()
			})
		}
	})
	cancelling.Wait()
	if !errors.Is(err, context.Canceled) || len(got) != 5 {
		t.Fatalf("%d batches, then %v, want context.Canceled", len(got), err)
	}
	stopped(t, c.control.Daemon.PID, syscall.SIGCONT)
	if now := f.State(); now != state {
		t.Errorf("%+v, want %+v", now, state)
	}
	if err := f.LoadState(state); err != nil {
		t.Fatal(err)
	}
	got = append(got, must(starts(t, t.Context(), f, 0))(t)...)
	if now := must(f.Stats(t.Context()))(t).Slots; now != 9 {
		t.Errorf("%d slots, want the 9 that were wanted before", now)
	}
	equal(t, got, wanted(t, w, o, 1))
}

func TestCloseEndsAnExchange(t *testing.T) {
	c := started(t)
	f := feedOf(t, ramp(t, c, 400, window.Spec{}), FeedOptions{Slots: 3})
	var closing sync.WaitGroup
	got, err := served(t, t.Context(), f, func(n int, _ *Batch[float32]) {
		if n == 5 {
			standing(t, c)
			f.want.slots = 9
			closing.Go(func() {
				hanging(t, f)
				if err := f.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	})
	closing.Wait()
	stopped(t, c.control.Daemon.PID, syscall.SIGCONT)
	if !errors.Is(err, ErrClosed) || len(got) != 5 {
		t.Errorf("%d batches, then %v, want ErrClosed", len(got), err)
	}
	until(t, "no feed is left", func() bool { return len(feedsOf(t, c)) == 0 })
}

// without is a feed whose daemon stands still, and which has no stream, as after a daemon that went
// away.
func without(t *testing.T, c *Cache, w *Windows) *Feed[float32] {
	t.Helper()
	f := feedOf(t, w, FeedOptions{Order: "shuffle"})
	f.mu.Lock()
	f.detach()
	f.mu.Unlock()
	standing(t, c)
	return f
}

func TestCloseEndsTheWaitOfAPassForItsStream(t *testing.T) {
	c := started(t)
	f := without(t, c, ramp(t, c, 400, window.Spec{}))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var closing sync.WaitGroup
	closing.Go(func() {
		hanging(t, f)
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := starts(t, ctx, f, 0); !errors.Is(err, ErrClosed) {
		t.Errorf("%v, want ErrClosed", err)
	}
	closing.Wait()
	stopped(t, c.control.Daemon.PID, syscall.SIGCONT)
	until(t, "no feed is left", func() bool { return len(feedsOf(t, c)) == 0 })
}

func TestAnEpochThatIsSetWhileAPassWaitsIsTheNext(t *testing.T) {
	c := started(t)
	w := ramp(t, c, 400, window.Spec{})
	want := wanted(t, w, FeedOptions{Order: "shuffle"}, 4)
	f := without(t, c, w)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var setting sync.WaitGroup
	setting.Go(func() {
		hanging(t, f)
		f.SetEpoch(3)
		stopped(t, c.control.Daemon.PID, syscall.SIGCONT)
	})
	got := must(starts(t, ctx, f, 0))(t)
	setting.Wait()
	got = append(got, must(starts(t, ctx, f, 0))(t)...)
	equal(t, got, append(want[:50:50], want[150:]...))
}
