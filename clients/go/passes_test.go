package tensorcache

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/window"
)

// passStarts returns the starts of the windows of an epoch's batches.
func passStarts(t *testing.T, f *Feed[float32], most int) [][]int64 {
	t.Helper()
	out, err := collectStarts(t, t.Context(), f, most)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPassesOfBatchesFollowTheOrdersEpochs(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 28, window.Spec{}) // 23 windows: 6 batches of at most 4
	options := FeedOptions{BatchSize: 4, Order: "shuffle", Seed: 3}
	whole := newTestFeed(t, w, options)
	var sequence [][]int64
	for range 6 {
		sequence = append(sequence, passStarts(t, whole, 0)...)
	}
	for _, n := range []int64{1, 4, 6, 10} {
		options.BatchesPerEpoch = n
		f := newTestFeed(t, w, options)
		if f.Len() != n {
			t.Errorf("%d batches, want %d", f.Len(), n)
		}
		of := func(e int64) [][]int64 { return sequence[e*n : (e+1)*n] }
		for e := range int64(2) {
			if got := passStarts(t, f, 0); !equalStarts(got, of(e)) {
				t.Errorf("n %d, epoch %d: %v, want %v", n, e, got, of(e))
			}
		}
		f.SetEpoch(1)
		if got := passStarts(t, f, 1); !equalStarts(got, of(1)[:1]) {
			t.Errorf("n %d: the first batch of epoch 1 is %v, want %v", n, got, of(1)[:1])
		}
		if got := passStarts(t, f, 0); !equalStarts(got, of(2)) { // the pass that was left counts
			t.Errorf("n %d, epoch 2: %v, want %v", n, got, of(2))
		}
	}
}

func equalStarts(a, b [][]int64) bool {
	return slices.EqualFunc(a, b, func(x, y []int64) bool { return slices.Equal(x, y) })
}

func TestPassesOfTheLastEpochsDoNotOverflow(t *testing.T) {
	p := passes{n: 100, batches: 6, step: 4, windows: 23, least: 1}
	if got, want := p.start(math.MaxUint64/100*6), (place{math.MaxUint64 / 100 * 100, 0}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := p.start(math.MaxUint64); got != (place{math.MaxUint64, 0}) {
		t.Errorf("beyond the last epoch: %v", got)
	}
	if got := p.end(place{math.MaxUint64, 20}); got.epoch != math.MaxUint64 {
		t.Errorf("the end of the last pass: %v", got)
	}
}

func TestRefusedBatchesPerEpoch(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 30, window.Spec{Stride: 4})
	for _, o := range []FeedOptions{
		{BatchesPerEpoch: -1},
		{BatchesPerEpoch: 1<<48 + 1},
		{BatchesPerEpoch: 2, Order: "random_start"},
		{BatchesPerEpoch: 2, Order: "lanes"},
		{BatchesPerEpoch: 2, Order: "cross_section"},
		{BatchesPerEpoch: 2, NumReplicas: 2, Tail: "short"},
	} {
		o.BatchSize = 2
		_, err := NewFeed[float32](t.Context(), w, o)
		var why *Error
		if !errors.As(err, &why) || why.Type != InvalidSpec || why.Field != "batches_per_epoch" {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
