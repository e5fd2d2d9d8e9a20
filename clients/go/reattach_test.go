package tensorcache

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/window"
)

// longTime is longer than any test takes.
const longTime = time.Hour

// pretendWaiting makes the next decision of the tuner find that both sides have waited for long.
func pretendWaiting(f *Feed[float32]) {
	f.tuner.passed, f.tuner.waited, f.tuner.idle = -longTime, -longTime, -longTime
}

// collectAll returns the starts of an epoch's batches, and calls body during each batch.
func collectAll(t *testing.T, ctx context.Context, f *Feed[float32],
	body func(n int, b *Batch[float32])) (out [][]int64, err error) {
	t.Helper()
	for b, err := range f.Epoch(ctx) {
		if err != nil {
			return out, err
		}
		checkRamp(t, b)
		out = append(out, slices.Clone(b.Start))
		body(len(out), b)
	}
	return out, nil
}

// expectedStarts returns the starts of the batches of some epochs, by a feed that does not
// reattach.
func expectedStarts(t *testing.T, w *Windows, o FeedOptions, epochs int) (out [][]int64) {
	t.Helper()
	o.Slots, o.Delivery = 5, DeliverSlot
	f := newTestFeed(t, w, o)
	for range epochs {
		out = append(out, must(collectStarts(t, t.Context(), f, 0))(t)...)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	return out
}

func checkStarts(t *testing.T, got, want [][]int64) {
	t.Helper()
	if !slices.EqualFunc(got, want, slices.Equal[[]int64]) {
		t.Errorf("%d batches, %v, want %d, %v", len(got), got, len(want), want)
	}
}

func TestARingThatGrowsAndShrinksServesEveryBatch(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 4000, window.Spec{})
	o := FeedOptions{Order: "shuffle", Seed: 5}
	f := newTestFeed(t, w, o)
	slots := func() int { return must(f.Stats(t.Context()))(t).Slots }
	few := slots()
	var got [][]int64
	for epoch, want := range []int{2 * few, 4 * few, 2 * few, 2 * few} {
		got = append(got, must(collectAll(t, t.Context(), f, func(n int, _ *Batch[float32]) {
			switch {
			case n != 3:
			case epoch < 2:
				pretendWaiting(f)
				f.tuner.waitShareBefore = 2 // so that the present share is much smaller
			case epoch == 2: // as much waiting as before
				f.tuner.passed, f.tuner.waited = -longTime, -longTime
			}
		}))(t)...)
		if now := slots(); now != want {
			t.Errorf("after epoch %d: %d slots, want %d", epoch, now, want)
		}
	}
	if !f.tuner.settled {
		t.Error("more slots did not help and are tried on")
	}
	checkStarts(t, got, expectedStarts(t, w, o, 4))
}

func TestSlotsOfTheOptionsAreNotTuned(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 2000, window.Spec{})
	if f := newTestFeed(t, w, FeedOptions{Slots: 7}); f.tuner != nil {
		t.Error("the slots were given and are tuned")
	}
	for _, delivery := range []string{DeliverView, DeliverLocal} {
		f := newTestFeed(t, w, FeedOptions{Delivery: delivery})
		before := must(f.Stats(t.Context()))(t).Slots
		must(collectAll(t, t.Context(), f, func(n int, _ *Batch[float32]) {
			if n == 3 {
				pretendWaiting(f)
			}
		}))(t)
		if now := must(f.Stats(t.Context()))(t).Slots; now != before {
			t.Errorf("%s: %d slots, then %d", delivery, before, now)
		}
	}
}

func TestAStatusRequestThatFailsLeavesTheFeedAsItIs(t *testing.T) {
	c := newDaemon(t)
	w := rampWindows(t, c, 3000, window.Spec{})
	f := newTestFeed(t, w, FeedOptions{Order: "shuffle"})
	slots := f.stream.reply.Slots
	suspendDaemon(t, c)
	// returns, though the daemon does not answer
	if idle, ok := f.idleInPasses(t.Context(), f.stream); ok {
		t.Errorf("a suspended daemon answers %s", idle)
	}
	signalProcess(t, c.control.Daemon.PID, syscall.SIGCONT)
	got := must(collectAll(t, t.Context(), f, func(n int, _ *Batch[float32]) {
		if n == 1 {
			pretendWaiting(f)
			f.stream.reply.Feed = "f0" // unknown to the daemon
		}
	}))(t)
	if f.tuner.passed < 0 || f.stream.reply.Slots != slots || f.tuner.settled {
		t.Errorf("%+v, %d slots, want %d", f.tuner, f.stream.reply.Slots, slots)
	}
	checkStarts(t, got, expectedStarts(t, w, FeedOptions{Order: "shuffle"}, 1))
}

func TestIdleTimeOfTheDaemonIsCountedInsidePasses(t *testing.T) {
	f := newTestFeed(t, rampWindows(t, sharedDaemon(t), 1000, window.Spec{}), FeedOptions{})
	must(collectStarts(t, t.Context(), f, 0))(t)
	var stats Stats
	eventually(t, "the daemon waits for half a second more than a pass took", func() bool {
		stats = must(f.Stats(t.Context()))(t)
		return stats.WaitTrainer > stats.Pass+time.Second/2
	})
	idle, ok := f.idleInPasses(t.Context(), f.stream)
	// the two clocks are not read at the same time
	if tolerance := 2 * time.Second / 5; !ok || idle > stats.Pass+tolerance {
		t.Errorf("idle for %s (%t) in passes of %s", idle, ok, stats.Pass)
	}
}

func TestHeldBatchesOutliveTheirRing(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 400, window.Spec{})
	o := FeedOptions{Order: "shuffle", Slots: 4}
	f := newTestFeed(t, w, o)
	var kept []*Batch[float32]
	var releases []func()
	var firsts []int64
	got := must(collectAll(t, t.Context(), f, func(n int, b *Batch[float32]) {
		if n < 6 { // the ring lends two slots, so the others are copies
			kept, releases, firsts = append(kept, b), append(releases, b.Hold()),
				append(firsts, b.Start[0])
		}
		if n == 5 {
			f.wanted.slots = 6
		}
		// two batches of the old ring, and the present one
		if stats := must(f.Stats(t.Context()))(t); n == 7 &&
			(stats.Held != 3 || stats.Copied != 3 || stats.Slots != 6) {
			t.Errorf("%+v", stats)
		}
	}))(t)
	for i, b := range kept {
		checkRamp(t, b)
		if b.Start[0] != firsts[i] {
			t.Errorf("held batch %d starts at %d, it did at %d", i, b.Start[0], firsts[i])
		}
		releases[i]()
	}
	if stats := must(f.Stats(t.Context()))(t); stats.Held != 0 || stats.Copied != 3 {
		t.Errorf("%+v", stats)
	}
	checkStarts(t, got, expectedStarts(t, w, o, 1))
}

func TestOtherGoroutinesQueryAFeedThatReattaches(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 2000, window.Spec{})
	o := FeedOptions{Order: "shuffle", Slots: 3}
	f := newTestFeed(t, w, o)
	over := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
			}
			if stats, err := f.Stats(t.Context()); err != nil || stats.Slots != 3 &&
				stats.Slots != 4 || stats.Copied > 0 || stats.Verdict == "" {
				t.Errorf("%+v, %v", stats, err)
			}
		}
	})
	got := must(
		collectAll(t, t.Context(), f,
			func(n int, _ *Batch[float32]) { f.wanted.slots = 3 + n%2 }))(t)
	close(over)
	asking.Wait()
	checkStarts(t, got, expectedStarts(t, w, o, 1))
}

func TestAFeedContinuesWithoutMemoryForMoreSlots(t *testing.T) {
	t.Setenv("TENSORCACHE_MEMORY", "160MiB")
	c := newDaemon(t)
	w := rampWindows(t, c, 40_000, window.Spec{})
	o := FeedOptions{BatchSize: 1024, Slots: 3, Order: "shuffle"}
	want := expectedStarts(t, w, o, 1)
	f := newTestFeed(t, w, o)
	reattach := func(asked, have int) {
		t.Helper()
		// passed keeps the tuner from a decision of its own, which a slow pass would reach
		f.tuner = &tuner{slotsBefore: f.stream.reply.Slots, passed: longTime}
		f.SetEpoch(0)
		checkStarts(t, must(collectAll(t, t.Context(), f, func(n int, _ *Batch[float32]) {
			if n == 5 {
				f.wanted.slots = asked
			}
		}))(t), want)
		if now := must(f.Stats(t.Context()))(t).Slots; now != have || f.wanted != f.current ||
			f.tuner.settled != (have < asked) {
			t.Errorf("%d slots, want %d of %d that were asked for; %+v", now, have, asked, f.tuner)
		}
		eventually(t, "the daemon has the one ring alone", func() bool {
			feeds := listFeeds(t, c)
			return len(feeds) == 1 && feeds[0].Slots == have
		})
	}
	eventually(t, "other feeds are gone", func() bool { return len(listFeeds(t, c)) == 1 })
	all := newTestFeed(t, w, FeedOptions{BatchSize: 1024, Slots: 1 << 14}) // uses all memory
	most := all.stream.reply.Slots
	if _, err := NewFeed[float32](t.Context(), w, o); !errors.Is(err, Memory) {
		t.Fatal(err)
	}
	f.wanted.slots = 9
	checkStarts(t, must(collectStarts(t, t.Context(), f, 0))(t), want)
	if now := must(f.Stats(t.Context()))(t).Slots; now != 3 || f.wanted != f.current {
		t.Errorf("%d slots, want the 3 there are", now)
	}
	if err := all.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the memory is free", func() bool { return len(listFeeds(t, c)) == 1 })
	reattach(most*6/10, most*6/10)
	reattach(most, most*6/10) // the memory left allows fewer slots than it has
}

// listFeeds returns the feeds that the daemon serves.
func listFeeds(t *testing.T, c *Cache) []wire.Feed {
	t.Helper()
	return must(control.List[wire.Feeds](t.Context(), c.control, "/v1/feeds"))(t)
}

func TestAFeedWhoseDatasetIsNotFoundKeepsItsRing(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 400, window.Spec{})
	want := expectedStarts(t, w, FeedOptions{Order: "shuffle"}, 1)
	f := newTestFeed(t, w, FeedOptions{Order: "shuffle", Slots: 3})
	for _, one := range []struct {
		name       string
		generation int64
	}{{"nobody", w.data.generation}, {"ramp", 1 << 40}} {
		name, generation := w.data.name, w.data.generation
		f.SetEpoch(0)
		checkStarts(t, must(collectAll(t, t.Context(), f, func(n int, _ *Batch[float32]) {
			if n == 5 { // a name or generation that the daemon does not find
				w.data.name, w.data.generation = one.name, one.generation
				f.wanted.slots = 9
			}
		}))(t), want)
		w.data.name, w.data.generation = name, generation
		if now := must(f.Stats(t.Context()))(t).Slots; now != 3 || f.wanted != f.current {
			t.Errorf("%+v: %d slots, want 3", one, now)
		}
	}
}

func TestAFeedContinuesWithoutADescriptorForAnotherRing(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 400, window.Spec{})
	o := FeedOptions{Order: "shuffle", Slots: 3}
	f := newTestFeed(t, w, o)
	var had syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &had); err != nil {
		t.Fatal(err)
	}
	limit := func(files uint64) {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE,
			&syscall.Rlimit{Cur: min(files, had.Max), Max: had.Max}); err != nil {
			t.Fatal(err)
		}
	}
	defer limit(had.Cur)
	for free := range uint64(3) { // none, one for the connection, and one for the ring too
		f.SetEpoch(0)
		checkStarts(t, must(collectAll(t, t.Context(), f, func(n int, _ *Batch[float32]) {
			switch n {
			case 5:
				lowest, err := os.Open(os.DevNull) // gets the lowest free number
				if err != nil {
					t.Fatal(err)
				}
				limit(uint64(lowest.Fd()) + free)
				lowest.Close()
				f.wanted.slots = 9
			case 6:
				limit(had.Cur)
			}
		}))(t), expectedStarts(t, w, o, 1))
		if now, want := must(f.Stats(t.Context()))(t).Slots, 3+int(free/2)*6; now != want {
			t.Errorf("%d free descriptors: %d slots, want %d", free, now, want)
		}
	}
}

func TestReattachingKeepsTheGeneration(t *testing.T) {
	c := sharedDaemon(t)
	w := rampWindows(t, c, 400, window.Spec{})
	want := expectedStarts(t, w, FeedOptions{Order: "shuffle"}, 1)
	f := newTestFeed(t, w, FeedOptions{Order: "shuffle", Slots: 3})
	got := must(collectAll(t, t.Context(), f, func(n int, _ *Batch[float32]) {
		if n == 5 { // from here on only the feed keeps the generation
			other := rampWindows(t, c, 30, window.Spec{})
			if err := errors.Join(other.Dataset().Close(), w.Dataset().Close()); err != nil {
				t.Fatal(err)
			}
			f.wanted.slots = 9
		}
	}))(t)
	if now := must(f.Stats(t.Context()))(t).Slots; now != 9 {
		t.Errorf("%d slots, want 9", now)
	}
	checkStarts(t, got, want)
}
