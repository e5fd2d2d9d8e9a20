package feed

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/tensorcache/tensorcache/internal/feed/workers"
	"github.com/tensorcache/tensorcache/internal/testwait"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// starve reads all batches and waits for more, until the feed waits for its turn at the workers. It
// sends WAIT only once: a feed that waits for its turn reads nothing, and more frames might not fit
// into the socket.
func (t *trainer) starve(pool *workers.Pool) {
	for reported := ^uint64(0); pool.Waiting() == 0; {
		if t.seen == reported && atomic.LoadUint64(&t.words[wire.QueueSent]) == reported {
			runtime.Gosched()
			continue
		}
		reported = t.seen
		if t.readQueue() {
			for _, d := range t.pending {
				t.giveCredits(d.Slot)
			}
			t.pending = nil
		}
	}
}

// takeTurns takes all turns at the workers, until release.
func takeTurns(pool *workers.Pool) (release func()) {
	turns := make([]workers.Turn, max(1, pool.Size()/2))
	for i := range turns {
		turns[i] = pool.NewTurn()
		turns[i].Announced(true)
		turns[i].Acquire(true)
	}
	return func() {
		for i := range turns {
			turns[i].Release()
		}
	}
}

// TestOnlyAStarvedFeedWaitsForATurnAndReleasesIt lets other feeds take all turns.
func TestOnlyAStarvedFeedWaitsForATurnAndReleasesIt(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1000)
	pool := env.server.pool
	release := takeTurns(pool)
	// Without a queue, a client does not report that it waits.
	silent := env.attach(t, request("d", with("slots", 3)))
	defer silent.close()
	tr := env.attach(t, request("d", withQueue(t), with("slots", 8)))
	defer tr.close()
	tr.starve(pool)
	for range 100 {
		silent.credit(t, silent.batch(t).Slot)
	}
	release()
	for range 100 {
		tr.credit(t, tr.batch(t).Slot)
	}
	release = takeTurns(pool)
	tr.starve(pool)
	// The feed waits for a turn, and ends when it gets one.
	if err := tr.send(wire.FrameDone, nil); err != nil {
		t.Fatal(err)
	}
	release()
	silent.close()
	testwait.Until(t, "gone", func() bool { return len(env.server.Feeds()) == 0 })
	takeTurns(pool)() // if a turn is not free, this blocks until the test times out
}
