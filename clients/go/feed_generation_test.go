package tensorcache

import (
	"errors"
	"testing"

	"github.com/tensorcache/tensorcache/internal/testwait"
	"github.com/tensorcache/tensorcache/window"
)

func TestAFeedKeepsItsGenerationInTheCache(t *testing.T) {
	for change, then := range map[string]error{"removed": DatasetNotFound,
		"replaced": GenerationGone} {
		t.Run(change, func(t *testing.T) {
			c := newDaemon(t)
			w := rampWindows(t, c, 1000, window.Spec{})
			f := newTestFeed(t, w, FeedOptions{Order: "shuffle", Slots: 3})
			must(collectStarts(t, t.Context(), f, 2))(t)
			if change == "removed" {
				must(c.Remove(t.Context(), "ramp"))(t)
			} else {
				d := must(c.Put(t.Context(), "ramp", []PutColumn{Values("v", make([]float32, 50))},
					LoadOptions{}))(t)
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}
			if err := w.Dataset().Close(); err != nil {
				t.Error(err)
			}
			for range 2 {
				if got := must(collectStarts(t, t.Context(), f, 0))(t); int64(len(got)) != f.Len() {
					t.Errorf("%d batches of %d", len(got), f.Len())
				}
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			testwait.Until(t, "the generation is no more", func() bool {
				again, err := NewFeed[float32](t.Context(), w, FeedOptions{BatchSize: 8})
				if err == nil {
					_ = again.Close()
				}
				return errors.Is(err, then)
			})
		})
	}
}
