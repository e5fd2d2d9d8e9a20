package tensorcache

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/window"
)

// TestAFeedThatIsExchangedAtAnyMomentServesWhatOneServesThatStays breaks passes off, seeks and holds batches between the changes.
func TestAFeedThatIsExchangedAtAnyMomentServesWhatOneServesThatStays(t *testing.T) {
	c := connected(t)
	windows := map[bool]*Windows{
		false: ramp(t, c, 61, window.Spec{}),
		true:  ramp(t, c, 61, window.Spec{ContextLength: 4, PredictionLength: 2, Stride: 4}),
	}
	rapid.Check(t, func(r *rapid.T) {
		o := FeedOptions{
			BatchSize: rapid.Int64Range(1, 9).Draw(r, "batch_size"), Seed: rapid.Uint64Range(0, 9).Draw(r, "seed"),
			Order:       rapid.SampledFrom([]string{sampler.Sequential, sampler.Shuffle, sampler.Bootstrap, sampler.RandomStart, sampler.Lanes}).Draw(r, "order"),
			NumReplicas: rapid.Int64Range(1, 4).Draw(r, "num_replicas"), Tail: rapid.SampledFrom([]string{sampler.Short, sampler.Wrap}).Draw(r, "tail"),
		}
		o.Rank = rapid.Int64Range(0, o.NumReplicas-1).Draw(r, "rank")
		w := windows[o.Order == sampler.Lanes]
		stays := feedOf(t, w, o)
		defer stays.Close()
		o.Delivery = DeliverLocal
		f := feedOf(t, w, o)
		defer f.Close()
		f.chooser = newChooser()
		f.chooser.delivery, f.chooser.warm = DeliverLocal, 1<<30 // it never comes to a choice of its own
		var releases []func()
		for range rapid.IntRange(1, 5).Draw(r, "passes") {
			most := rapid.IntRange(1, 30).Draw(r, "most")
			seek := rapid.SampledFrom([]string{"", "", "epoch", "state"}).Draw(r, "seek")
			to := rapid.Uint64Range(0, 3).Draw(r, "to")
			run := func(f *Feed[float32], body func()) (out [][]int64, states []Cursor, length int64) {
				length = f.Len()
				for b, err := range f.Epoch(t.Context()) {
					if err != nil {
						r.Fatal(err)
					}
					checkRamp(t, b)
					out, states = append(out, slices.Clone(b.Start)), append(states, f.State())
					if len(out) == 2 {
						switch seek {
						case "epoch":
							f.SetEpoch(to)
						case "state":
							if err := f.LoadState(states[0]); err != nil {
								r.Fatal(err)
							}
						}
					}
					body()
					if f.gather != nil && rapid.IntRange(0, 5).Draw(r, "hold") == 0 {
						releases = append(releases, b.Hold())
					}
					if len(out) == most {
						break
					}
				}
				return out, append(states, f.State()), length
			}
			want, wantStates, wantLen := run(stays, func() {})
			got, states, length := run(f, func() {
				if rapid.Bool().Draw(r, "change") {
					f.chooser.delivery = rapid.SampledFrom([]string{DeliverSlot, DeliverLocal}).Draw(r, "delivery")
					f.want.slots = rapid.IntRange(3, 6).Draw(r, "slots")
				}
			})
			if !slices.EqualFunc(got, want, slices.Equal[[]int64]) || !slices.Equal(states, wantStates) || length != wantLen {
				r.Fatalf("%v, %v, %d batches; want %v, %v, %d", got, states, length, want, wantStates, wantLen)
			}
		}
		for _, release := range releases {
			release()
		}
	})
}
