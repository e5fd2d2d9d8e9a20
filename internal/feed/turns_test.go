package feed

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

func hungry() *diner { return &diner{hungry: true} }

func TestAHungryStreamHasItsTurnUntilItsTimeIsOverOrItIsFed(t *testing.T) {
	for name, ends := range map[string]func(d *diner){
		"time over": func(d *diner) { d.until = time.Now().Add(-time.Second) },
		"fed": func(d *diner) {
			for range calm {
				d.announced()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			turns, load := newTurns(3), &load{}
			first, second := hungry(), hungry()
			for range 2 {
				if !first.sit(&turns, load, false) {
					t.Fatal("a turn that nobody has, or only it, was refused")
				}
			}
			if second.sit(&turns, load, false) {
				t.Fatal("two had the one turn")
			}
			if other := (&diner{}); !other.sit(&turns, load, false) || other.seated {
				t.Error("a stream that is not hungry was sent to the queue")
			}
			sat := make(chan bool)
			go func() { sat <- second.sit(&turns, load, true) }()
			until(t, "queued", func() bool { return turns.queued.Load() == 1 })
			first.until = time.Now().Add(time.Hour)
			if !first.sit(&turns, load, false) || !first.seated {
				t.Fatal("a turn ended before its time")
			}
			ends(first)
			if name == "fed" != first.sit(&turns, load, false) {
				t.Errorf("after its turn: hungry %v, seated %v", first.hungry, first.seated)
			}
			if !<-sat || !second.seated || first.seated {
				t.Errorf("first seated %v, second %v, want the second alone", first.seated,
					second.seated)
			}
			second.rise(&turns)
			if len(turns.places) != 0 || turns.queued.Load() != 0 || load.working.Load() != 0 {
				t.Errorf("%d turns taken, %d queued, %d working; want none", len(turns.places),
					turns.queued.Load(), load.working.Load())
			}
		})
	}
}

// hungers takes what is there and waits for more, until the stream has to wait for its turn. It
// says that it waits once for each batch that it waits for: a stream that waits reads nothing, and
// what else is to be said must fit into the socket.
func (t *trainer) hungers(turns *turns) {
	for said := ^uint64(0); turns.queued.Load() == 0; {
		if t.seen == said && atomic.LoadUint64(&t.words[queueSent]) == said {
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

// TestATurnKeepsFromTheWorkersWhoWaitsAloneAndIsGivenBack has all turns taken by somebody else.
func TestATurnKeepsFromTheWorkersWhoWaitsAloneAndIsGivenBack(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 1000)
	turns := &w.server.pool.turns
	take, give := func() {
		for range cap(turns.places) {
			turns.places <- struct{}{}
		}
	}, func() {
		for range cap(turns.places) {
			<-turns.places
		}
	}
	take()
	unknown := w.attach(t, request("d", with("slots", 3))) // says nothing when it waits
	defer unknown.close()
	tr := w.attach(t, request("d", queued(t), with("slots", 8)))
	defer tr.close()
	tr.hungers(turns)
	for range 100 {
		unknown.credit(t, unknown.batch(t).Slot)
	}
	give()
	for range 100 {
		tr.credit(t, tr.batch(t).Slot)
	}
	take()
	tr.hungers(turns)
	// in the queue: it leaves it when its turn comes
	if err := tr.send(wire.FrameDone, nil); err != nil {
		t.Fatal(err)
	}
	give()
	unknown.close()
	until(t, "gone, and its turn free", func() bool {
		return len(w.server.Feeds()) == 0 &&
			len(turns.places) == 0
	})
}
