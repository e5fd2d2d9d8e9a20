package feed

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// TestTheTrainerOfAClosedFeedIsTold closes feeds whose trainer waits, works, has not read anything
// yet.
func TestTheTrainerOfAClosedFeedIsTold(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 1000)
	for name, until := range map[string]func(tr *trainer) error{
		"waits": func(tr *trainer) error { // it holds every slot
			return tr.ended()
		},
		"works": func(tr *trainer) error {
			for {
				d, err := tr.next()
				if err != nil {
					return err
				}
				if d.Slot == wire.NoSlot {
					continue
				}
				if err := tr.send(wire.FrameCredit, le(d.Slot)); err != nil {
					return tr.ended() // the reason is there already
				}
			}
		},
	} {
		for range 20 { // at other moments
			tr := w.attach(t, request("d", with("slots", 3)))
			if one, err := w.server.Feed(tr.Feed); err != nil || one.Feed != tr.Feed {
				t.Fatalf("%+v, %v", one, err)
			}
			ended := make(chan error, 1)
			go func() { ended <- until(tr) }()
			said, err := w.server.CloseFeed(tr.Feed)
			if err != nil || said.Feed != tr.Feed {
				t.Fatalf("%+v, %v", said, err)
			}
			if p := problemIn(t, <-ended); p.Type != wire.FeedClosed ||
				!strings.Contains(p.Detail, "feed "+tr.Feed+" was closed") || p.Hint == "" {
				t.Errorf("a trainer that %s was told %+v", name, p)
			}
			tr.close()
		}
	}
	if _, err := w.server.CloseFeed("f1"); problemIn(t, err).Type != wire.FeedNotFound {
		t.Error(err)
	}
}

// TestClosingAFeedDoesNotWaitForATrainerThatReadsNothing: its socket is full.
func TestClosingAFeedDoesNotWaitForATrainerThatReadsNothing(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 100_000)
	lazy := w.attach(t, request("d", with("slots", 3)))
	defer lazy.close()
	for i := range 40_000 { // each is answered without a slot
		lazy.stream++
		if err := lazy.sendWithin(20*time.Millisecond, wire.FrameSeek,
			wire.Seek{Stream: uint32(i + 1), Epoch: 1, Consumed: 99_995}.Append(nil)); err != nil {
			break
		}
	}
	// it may have failed by itself
	if _, err := w.server.CloseFeed(lazy.Feed); err != nil && !errors.As(err, new(*wire.Problem)) {
		t.Fatal(err)
	}
	until(t, "freed", func() bool { return len(w.server.Feeds()) == 0 })
}

func TestAFeedThatWasClosedIsNotExchanged(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 1000)
	tr := w.attach(t, request("d", with("slots", 3)))
	defer tr.close()
	heir := w.attach(t, request("d", with("instead", tr.Feed)))
	defer heir.close()
	if _, err := w.server.CloseFeed(tr.Feed); err != nil {
		t.Fatal(err)
	}
	// whose client has not let the other go yet
	if p := problemIn(t, heir.ended()); p.Type != wire.FeedClosed {
		t.Errorf("the feed in its place was told %+v", p)
	}
	// it is about to end, then it has
	for _, typ := range []string{wire.FeedClosed, wire.FeedNotFound} {
		if typ == wire.FeedNotFound {
			until(t, "ended", func() bool { return len(w.server.Feeds()) == 0 })
		}
		if p := w.refuse(t, request("d", with("instead", tr.Feed))); p.Type != typ &&
			p.Type != wire.FeedNotFound {
			t.Errorf("%+v, want %s", p, typ)
		}
	}
}
