package tensorcache

import (
	"errors"
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/window"
)

func TestAFeedClosedByAnotherClientReturnsAnErrorAndResumes(t *testing.T) {
	c := sharedDaemon(t)
	f := newTestFeed(t, rampWindows(t, c, 1000, window.Spec{}), FeedOptions{Slots: 3})
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
	rest, err := collectStarts(t, t.Context(), f, 1000)
	if err != nil || rest[0][0] != int64(seen) {
		t.Errorf("went on at %v after %d windows: %v", rest[0], seen, err)
	}
}
