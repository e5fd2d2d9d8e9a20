package tensorcache

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/testwait"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/window"
)

// suspendDaemon stops the daemon's threads, and waits until it does not answer.
func suspendDaemon(t *testing.T, c *Cache) {
	t.Helper()
	signalProcess(t, c.control.Daemon.PID, syscall.SIGSTOP)
	testwait.Until(t, "the daemon stands still", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		var h wire.Health
		return errors.Is(c.control.Get(ctx, "/v1/health", &h), context.DeadlineExceeded)
	})
}

// waitForAttach waits until a feed's loop waits for a new stream.
func waitForAttach(t *testing.T, f *Feed[float32]) {
	testwait.Until(t, "the loop waits for a stream", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.cancelAttach != nil
	})
}

// newDetachedFeed returns a feed without a stream, whose daemon is suspended.
func newDetachedFeed(t *testing.T, c *Cache, w *Windows) *Feed[float32] {
	t.Helper()
	f := newTestFeed(t, w, FeedOptions{Order: "shuffle"})
	f.mu.Lock()
	f.detach()
	f.mu.Unlock()
	suspendDaemon(t, c)
	return f
}

func TestCloseEndsTheWaitOfAPassForItsStream(t *testing.T) {
	c := newDaemon(t)
	f := newDetachedFeed(t, c, rampWindows(t, c, 400, window.Spec{}))
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	var closing sync.WaitGroup
	closing.Go(func() {
		waitForAttach(t, f)
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := collectStarts(t, ctx, f, 0); !errors.Is(err, ErrClosed) {
		t.Errorf("%v, want ErrClosed", err)
	}
	closing.Wait()
	signalProcess(t, c.control.Daemon.PID, syscall.SIGCONT)
	testwait.Until(t, "no feed is left", func() bool { return len(listFeeds(t, c)) == 0 })
}

func TestAnEpochSetWhileAPassWaitsIsTheNext(t *testing.T) {
	c := newDaemon(t)
	w := rampWindows(t, c, 400, window.Spec{})
	want := expectedStarts(t, w, FeedOptions{Order: "shuffle"}, 4)
	f := newDetachedFeed(t, c, w)
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	var setting sync.WaitGroup
	setting.Go(func() {
		waitForAttach(t, f)
		f.SetEpoch(3)
		signalProcess(t, c.control.Daemon.PID, syscall.SIGCONT)
	})
	got := must(collectStarts(t, ctx, f, 0))(t)
	setting.Wait()
	got = append(got, must(collectStarts(t, ctx, f, 0))(t)...)
	checkStarts(t, got, append(want[:50:50], want[150:]...))
}
