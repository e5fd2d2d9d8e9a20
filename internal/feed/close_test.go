package feed

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/testwait"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// TestClosingAFeedTellsItsTrainerWhy closes feeds while the trainer waits for a batch, while it
// works, and before it has read anything.
func TestClosingAFeedTellsItsTrainerWhy(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1000)
	for name, await := range map[string]func(tr *trainer) error{
		"waits": func(tr *trainer) error { // the trainer has all slots
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
				if err := tr.send(wire.FrameCredit, uint32Bytes(d.Slot)); err != nil {
					return tr.ended() // the reason is already in the socket
				}
			}
		},
	} {
		for range 20 { // at different moments
			tr := env.attach(t, request("d", with("slots", 3)))
			if one, err := env.server.Feed(tr.Feed); err != nil || one.Feed != tr.Feed {
				t.Fatalf("%+v, %v", one, err)
			}
			ended := make(chan error, 1)
			go func() { ended <- await(tr) }()
			closed, err := env.server.CloseFeed(tr.Feed)
			if err != nil || closed.Feed != tr.Feed {
				t.Fatalf("%+v, %v", closed, err)
			}
			if p := problemIn(t, <-ended); p.Type != wire.FeedClosed ||
				!strings.Contains(p.Detail, "feed "+tr.Feed+" was closed") || p.Hint == "" {
				t.Errorf("a trainer that %s got %+v", name, p)
			}
			tr.close()
		}
	}
	if _, err := env.server.CloseFeed("f1"); problemIn(t, err).Type != wire.FeedNotFound {
		t.Error(err)
	}
}

// TestClosingAFeedDoesNotWaitForATrainerThatReadsNothing fills the trainer's socket first.
func TestClosingAFeedDoesNotWaitForATrainerThatReadsNothing(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 100_000)
	lazy := env.attach(t, request("d", with("slots", 3)))
	defer lazy.close()
	for i := range 40_000 { // each is answered without a slot
		lazy.stream++
		if err := lazy.sendWithin(20*time.Millisecond, wire.FrameSeek,
			wire.Seek{Stream: uint32(i + 1), Epoch: 1, Consumed: 99_995}.Append(nil)); err != nil {
			break
		}
	}
	// The feed may already have failed because its socket is full.
	if _, err := env.server.CloseFeed(lazy.Feed); err != nil &&
		!errors.As(err, new(*wire.Problem)) {
		t.Fatal(err)
	}
	testwait.Until(t, "freed", func() bool { return len(env.server.Feeds()) == 0 })
}

func TestAClosedFeedCannotBeReplaced(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1000)
	tr := env.attach(t, request("d", with("slots", 3)))
	defer tr.close()
	successor := env.attach(t, request("d", with("instead", tr.Feed)))
	defer successor.close()
	if _, err := env.server.CloseFeed(tr.Feed); err != nil {
		t.Fatal(err)
	}
	// The client has not ended the other feed yet.
	if p := problemIn(t, successor.ended()); p.Type != wire.FeedClosed {
		t.Errorf("its successor got %+v", p)
	}
	// First the feed is about to end, then it has ended.
	for _, typ := range []string{wire.FeedClosed, wire.FeedNotFound} {
		if typ == wire.FeedNotFound {
			testwait.Until(t, "ended", func() bool { return len(env.server.Feeds()) == 0 })
		}
		if p := env.refuse(t, request("d", with("instead", tr.Feed))); p.Type != typ &&
			p.Type != wire.FeedNotFound {
			t.Errorf("%+v, want %s", p, typ)
		}
	}
}
