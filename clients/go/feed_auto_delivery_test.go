package tensorcache

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/tensorcache/tensorcache/window"
)

// countDeliveries returns a function that counts the batches by each delivery of a feed.
func countDeliveries(seen map[string]int, f *Feed[float32]) func(int, *Batch[float32]) {
	return func(int, *Batch[float32]) { seen[f.Delivery()]++ }
}

func TestAutoTriesBothDeliveriesAndServesEveryBatch(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 900, window.Spec{})
	o := FeedOptions{BatchSize: 1, Order: "shuffle", Seed: 7, Delivery: DeliverAuto}
	f := newTestFeed(t, w, o)
	seen := map[string]int{}
	var got [][]int64
	var kept []*Batch[float32]
	var releases []func()
	pretendWaiting(f)
	for range 3 { // epochs, of more steps than a choice takes
		got = append(got, must(collectAll(t, t.Context(), f, func(n int, b *Batch[float32]) {
			if gathered := b.refs.freeBuffer != nil; gathered != (f.Delivery() == DeliverLocal) {
				t.Errorf("by %s, gathered here: %t", f.Delivery(), gathered)
			}
			if f.isChoosing() && f.tuner.passed != -longTime {
				t.Error("slots are tuned while a delivery is chosen")
			}
			if seen[f.Delivery()]++; n%100 == 50 {
				kept, releases = append(kept, b), append(releases, b.Hold())
			}
		}))(t)...)
		if !f.chooser.lastStep.IsZero() {
			t.Error("the time between passes is a step")
		}
	}
	for i, b := range kept { // held during all changes
		checkRamp(t, b)
		if at := i/9*895 + i%9*100 + 49; b.Start[0] != got[at][0] {
			t.Errorf("held batch %d starts at %d, it did at %d", at, b.Start[0], got[at][0])
		}
	}
	stats := must(f.Stats(t.Context()))(t)
	if seen[DeliverSlot] < 4*trialSteps || seen[DeliverLocal] < 4*trialSteps ||
		len(stats.Step) != 2 ||
		stats.Step[DeliverSlot] <= 0 || stats.Step[DeliverLocal] <= 0 {
		t.Errorf("batches by %v, steps of %v", seen, stats.Step)
	}
	if f.isChoosing() || f.Delivery() != f.chooser.delivery ||
		(f.builder == nil) != (f.Delivery() == DeliverSlot) {
		t.Errorf("chose %+v, delivers by %s, gathers itself: %t", f.chooser, f.Delivery(),
			f.builder != nil)
	}
	if stats.Held != len(kept) {
		t.Errorf("%d batches are held, want %d", stats.Held, len(kept))
	}
	for _, release := range releases {
		release()
	}
	checkStarts(t, got, expectedStarts(t, w, o, 3))
}

func TestAutoReleasesWhatTheOtherDeliveryNeeds(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 400, window.Spec{})
	for chosen, took := range map[string]float64{DeliverSlot: 2000, DeliverLocal: 1} {
		f := newTestFeed(t, w, FeedOptions{Order: "shuffle", Delivery: DeliverAuto})
		var got [][]int64
		for epoch := range 3 {
			got = append(got, must(collectAll(t, t.Context(), f, func(n int, _ *Batch[float32]) {
				if w.data.feeds != 1 && n < 10 && epoch == 0 {
					t.Error("it chooses and does not keep the columns mapped")
				}
				// from here, one step is missing to the end of the last trial
				if c := f.chooser; n == 10 && epoch == 0 {
					c.slotMeans, c.localMeans = []float64{1000, 1000, 1000},
						slices.Repeat([]float64{took}, 4)
					c.warmup, c.steps = 0,
						append(c.steps, slices.Repeat([]float64{1000}, trialSteps-1)...)
				}
				if n > 10 && f.Delivery() != chosen {
					t.Errorf("batch %d comes by %s, chosen was %s", n, f.Delivery(), chosen)
				}
			}))(t)...)
		}
		if keeps := w.data.feeds == 1; keeps != (chosen == DeliverLocal) || f.isChoosing() {
			t.Errorf("chose %s, keeps the columns mapped: %t", chosen, keeps)
		}
		checkStarts(t, got, expectedStarts(t, w, FeedOptions{Order: "shuffle"}, 3))
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if w.data.feeds != 0 {
			t.Error("a feed that is closed keeps the columns mapped")
		}
	}
}

func TestAStateResumesWhileADeliveryIsChosen(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 900, window.Spec{})
	o := FeedOptions{BatchSize: 1, Order: "shuffle", Delivery: DeliverAuto}
	whole := expectedStarts(t, w, o, 1)
	// around the first change, and in trials of both deliveries
	for _, cut := range []int{warmupSteps + trialSteps, warmupSteps + trialSteps + 1,
		warmupSteps + trialSteps +
			2, 300, 500} {
		f := newTestFeed(t, w, o)
		seen := map[string]int{}
		var state Cursor
		must(collectStarts(t, t.Context(), f, cut))(t)
		state = f.State()
		for _, resumed := range []*Feed[float32]{f, newTestFeed(t, w, o)} {
			if err := resumed.LoadState(state); err != nil {
				t.Fatal(err)
			}
			checkStarts(t,
				must(collectAll(t, t.Context(), resumed, countDeliveries(seen, resumed)))(t),
				whole[cut:])
		}
		if len(seen) != 2 {
			t.Errorf("after %d batches all came by %v", cut, slices.Collect(maps.Keys(seen)))
		}
	}
}

func TestAutoKeepsSlotsIfTheOtherDeliveryFails(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 900, window.Spec{})
	o := FeedOptions{BatchSize: 1, Order: "shuffle", Delivery: DeliverAuto}
	f := newTestFeed(t, w, o)
	name := w.data.name
	got := must(collectAll(t, t.Context(), f, func(n int, _ *Batch[float32]) {
		if w.data.name = "nobody"; n == 300 { // after the first change
			w.data.name = name
		}
	}))(t)
	w.data.name = name
	if f.isChoosing() || f.Delivery() != DeliverSlot || f.builder != nil {
		t.Errorf("%+v, delivers by %s", f.chooser, f.Delivery())
	}
	checkStarts(t, got, expectedStarts(t, w, o, 1))
}

func TestADeliveryChosenAtAnEpochsEndStartsWithTheNextEpoch(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 400, window.Spec{})
	o := FeedOptions{Order: "shuffle", Delivery: DeliverAuto}
	f := newTestFeed(t, w, o)
	got := must(collectAll(t, t.Context(), f, func(n int, _ *Batch[float32]) {
		if int64(n) == f.Len() {
			f.chooser.settleOn(DeliverLocal)
			f.wanted.delivery = DeliverLocal
		}
	}))(t)
	if f.Delivery() != DeliverSlot {
		t.Errorf("delivers by %s", f.Delivery())
	}
	got = append(got, must(collectStarts(t, t.Context(), f, 0))(t)...)
	if f.Delivery() != DeliverLocal {
		t.Errorf("delivers by %s", f.Delivery())
	}
	checkStarts(t, got, expectedStarts(t, w, o, 2))
}

func TestOtherGoroutinesQueryAndCloseAFeedThatChooses(t *testing.T) {
	c := sharedDaemon(t)
	w := rampWindows(t, c, 2000, window.Spec{})
	for rounds := range 8 {
		f := newTestFeed(t, w, FeedOptions{BatchSize: 1, Delivery: DeliverAuto, Order: "shuffle"})
		ctx, cancel := context.WithCancel(t.Context())
		var others sync.WaitGroup
		others.Go(func() {
			for ctx.Err() == nil {
				stats, err := f.Stats(ctx)
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				if d := f.Delivery(); d != DeliverSlot && d != DeliverLocal || stats.Copied > 0 ||
					f.State().Consumed < 0 {
					t.Errorf("%s, %+v", d, stats)
				}
			}
		})
		end := warmupSteps + trialSteps + 200*rounds
		got, err := collectAll(t, t.Context(), f, func(n int, _ *Batch[float32]) {
			if n == end {
				others.Go(func() {
					if err := f.Close(); err != nil {
						t.Error(err)
					}
				})
			}
		})
		if !errors.Is(err, ErrClosed) && len(got) < 1995 {
			t.Errorf("%d batches, then %v", len(got), err)
		}
		cancel()
		others.Wait()
		for n, at := range got {
			if len(at) != 1 {
				t.Errorf("batch %d: %v", n, at)
			}
		}
	}
	eventually(t, "no feed is left", func() bool { return len(listFeeds(t, c)) == 0 })
}
