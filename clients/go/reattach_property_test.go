package tensorcache

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/window"
)

// passPlan describes a pass: it ends after maxBatches, and seeks during the second batch.
type passPlan struct {
	maxBatches int
	seek       string
	epoch      uint64
}

func drawPassPlan(r *rapid.T) passPlan {
	return passPlan{
		maxBatches: rapid.IntRange(1, 30).Draw(r, "most"),
		seek:       rapid.SampledFrom([]string{"", "", "epoch", "state"}).Draw(r, "seek"),
		epoch:      rapid.Uint64Range(0, 3).Draw(r, "to"),
	}
}

// run returns the starts of a pass's batches, the state during each batch and after the pass, and
// the length of the epoch before it.
func (p passPlan) run(t *testing.T, r *rapid.T, f *Feed[float32],
	body func(b *Batch[float32])) (out [][]int64, states []Cursor, length int64) {
	length = f.Len()
	for b, err := range f.Epoch(t.Context()) {
		if err != nil {
			r.Fatal(err)
		}
		checkRamp(t, b)
		out, states = append(out, slices.Clone(b.Start)), append(states, f.State())
		if len(out) == 2 && p.seek == "epoch" {
			f.SetEpoch(p.epoch)
		}
		if len(out) == 2 && p.seek == "state" {
			if err := f.LoadState(states[0]); err != nil {
				r.Fatal(err)
			}
		}
		if body(b); len(out) == p.maxBatches {
			break
		}
	}
	return out, append(states, f.State()), length
}

func drawFeedOptions(r *rapid.T) FeedOptions {
	o := FeedOptions{
		BatchSize: rapid.Int64Range(1, 9).Draw(r, "batch_size"),
		Seed:      rapid.Uint64Range(0, 9).Draw(r, "seed"),
		Order:     rapid.SampledFrom(sampler.Orders()).Draw(r, "order"),
		// with tail short, some ranks have no batch
		NumReplicas: rapid.Int64Range(1, 12).Draw(r, "num_replicas"),
		Tail:        rapid.SampledFrom([]string{sampler.Short, sampler.Wrap}).Draw(r, "tail"),
	}
	o.Rank = rapid.Int64Range(0, o.NumReplicas-1).Draw(r, "rank")
	return o
}

func TestAFeedThatReattachesServesTheSameBatches(t *testing.T) {
	c := sharedDaemon(t)
	windows, lanes := rampWindows(t, c, 61, window.Spec{}),
		rampWindows(t, c, 61, window.Spec{ContextLength: 4, PredictionLength: 2, Stride: 4})
	rapid.Check(t, func(r *rapid.T) {
		o, w := drawFeedOptions(r), windows
		if o.Order == sampler.Lanes {
			w = lanes
		}
		stays := newTestFeed(t, w, o)
		defer stays.Close()
		o.Delivery = DeliverLocal
		f := newTestFeed(t, w, o)
		defer f.Close()
		f.chooser = newChooser()
		// the drawn deliveries, and no choice by the chooser
		f.chooser.delivery, f.chooser.warmup = DeliverLocal, 1<<30
		var releases []func()
		defer func() {
			for _, release := range releases {
				release()
			}
		}()
		for range rapid.IntRange(1, 5).Draw(r, "passes") {
			pass := drawPassPlan(r)
			want, wantStates, wantLength := pass.run(t, r, stays, func(*Batch[float32]) {})
			got, states, length := pass.run(t, r, f, func(b *Batch[float32]) {
				if rapid.Bool().Draw(r, "change") {
					f.chooser.delivery = rapid.SampledFrom([]string{DeliverSlot, DeliverLocal}).
						Draw(r, "delivery")
					f.wanted.slots = rapid.IntRange(3, 6).Draw(r, "slots")
				}
				if rapid.IntRange(0, 5).Draw(r, "hold") == 0 {
					releases = append(releases, b.Hold())
				}
			})
			if !slices.EqualFunc(got, want, slices.Equal[[]int64]) ||
				!slices.Equal(states, wantStates) || length != wantLength {
				r.Fatalf("%v, %v, %d batches; want %v, %v, %d", got, states, length, want,
					wantStates, wantLength)
			}
		}
	})
}
