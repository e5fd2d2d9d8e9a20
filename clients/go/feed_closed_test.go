package tensorcache

import (
	"errors"
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/window"
)

func TestAFeedClosedElsewhereSaysSoAndGoesOnWhenAskedAgain(t *testing.T) {
	c := connected(t)
	f := feedOf(t, ramp(t, c, 1000, window.Spec{}), FeedOptions{Slots: 3})
	seen := 0
	var ended error
	for b, err := range f.Epoch(t.Context()) {
		if err != nil {
			ended = err
			break
		}
		if seen += len(b.Start); seen == 8 {
			var said wire.Feed
			if err := c.control.Delete(t.Context(), "/v1/feeds/"+f.stream.reply.Feed,
				&said); err != nil {
				t.Fatal(err)
			}
		}
	}
	var why *Error
	if !errors.Is(ended, FeedClosed) || !errors.As(ended, &why) || why.Hint == "" {
		t.Fatalf("after %d windows: %v", seen, ended)
	}
	rest, err := starts(t, t.Context(), f, 1000)
	if err != nil || rest[0][0] != int64(seen) {
		t.Errorf("went on at %v after %d windows: %v", rest[0], seen, err)
	}
}

func TestAFeedClosedElsewhereSaysSoThoughItIsExchanged(t *testing.T) {
	c := connected(t)
	w := ramp(t, c, 400, window.Spec{})
	o := FeedOptions{Order: "shuffle", Slots: 3}
	f := feedOf(t, w, o)
	got, ended := served(t, t.Context(), f, func(n int, _ *Batch[float32]) {
		if n == 2 {
			var said wire.Feed
			if err := c.control.Delete(t.Context(), "/v1/feeds/"+f.stream.reply.Feed,
				&said); err != nil {
				t.Fatal(err)
			}
			until(t, "the feed ends", func() bool { return len(feedsOf(t, c)) == 0 })
			f.want.slots = 9
		}
	})
	if !errors.Is(ended, FeedClosed) {
		t.Errorf("after %d batches: %v, want FeedClosed", len(got), ended)
	}
	until(t, "no feed is left", func() bool { return len(feedsOf(t, c)) == 0 })
	equal(t, append(got, must(starts(t, t.Context(), f, 0))(t)...), wanted(t, w, o, 1))
}
