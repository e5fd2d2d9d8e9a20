package tensorcache

import (
	"context"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/window"
)

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

// expectedStarts returns the starts of the batches of some epochs, by another feed.
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

func TestHeldBatchesOutliveTheirRing(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 400, window.Spec{})
	o := FeedOptions{Order: "shuffle", Slots: 4}
	f := newTestFeed(t, w, o)
	var kept []*Batch[float32]
	var releases []func()
	var firsts []int64
	lose := func() { // the next pass attaches again
		f.mu.Lock()
		defer f.mu.Unlock()
		f.detach()
	}
	for b, err := range f.Epoch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		// the ring lends two slots, so the others are copies
		kept, releases, firsts = append(kept, b), append(releases, b.Hold()),
			append(firsts, b.Start[0])
		if len(kept) == 5 {
			break
		}
	}
	lose()
	f.SetEpoch(0)
	got := must(collectAll(t, t.Context(), f, func(n int, b *Batch[float32]) {
		// two batches of the old ring, and the present one
		if stats := must(f.Stats(t.Context()))(t); n == 7 &&
			(stats.Held != 3 || stats.Copied != 3 || stats.Slots != 4) {
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

// listFeeds returns the feeds that the daemon serves.
func listFeeds(t *testing.T, c *Cache) []wire.Feed {
	t.Helper()
	return must(control.List[wire.Feeds](t.Context(), c.control, "/v1/feeds"))(t)
}
