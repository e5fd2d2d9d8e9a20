package feed

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/tensorcache/tensorcache/internal/feed/workers"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// starve takes all batches and waits for more until a feed waits for its turn at the workers. It
// says once that it waits for a batch: a feed that waits for its turn reads nothing, and more
// frames might not fit into the socket.
func (t *trainer) starve(pool *workers.Pool) {
	for said := ^uint64(0); pool.Waiting() == 0; {
		if t.seen == said && atomic.LoadUint64(&t.words[wire.QueueSent]) == said {
			runtime.Gosched()
			continue
		}
		said = t.seen
		if t.taken() {
			for _, d := range t.pending {
				t.give(d.Slot)
			}
			t.pending = nil
		}
	}
}

// takeTurns takes all turns at the workers and returns what gives them back.
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

// TestOnlyAStarvedFeedWaitsForATurnAndGivesItBack has all turns taken by others.
func TestOnlyAStarvedFeedWaitsForATurnAndGivesItBack(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 1000)
	pool := w.server.pool
	release := takeTurns(pool)
	// without a queue it does not say that it waits
	silent := w.attach(t, request("d", with("slots", 3)))
	defer silent.close()
	tr := w.attach(t, request("d", queued(t), with("slots", 8)))
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
	// its feed waits for a turn, and ends when it gets one
	if err := tr.send(wire.FrameDone, nil); err != nil {
		t.Fatal(err)
	}
	release()
	silent.close()
	until(t, "gone", func() bool { return len(w.server.Feeds()) == 0 })
	takeTurns(pool)() // all are free: else it would wait for ever
}
