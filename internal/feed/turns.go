package feed

import (
	"sync/atomic"
	"time"
)

// cycle is about how long it takes until each of the hungry streams has had its turn, and
// longestTurn how long one is at most. A turn has to be long for a ring to be worth its place in
// the cache: with 10 ms each four trainers got 0.89 to 1.1 of what one got alone, with 5 ms 0.83,
// with 2 ms 0.64, and batch by batch 0.67 (bench/README.md).
const (
	cycle       = 40 * time.Millisecond
	longestTurn = 10 * time.Millisecond
)

// turns are taken by hungry streams, whose trainers take batches faster than they are made. Were
// all of them served at once, their rings would throw each other out of the cache, and a ring that
// is in none takes half as much time again to be filled. They lose nothing by it: what a trainer
// misses in the others' turns it gets in its own. Who is not hungry is served at any time, so that
// its ring stays full.
type turns struct {
	// taken by those whose turn it is: as many as keep all workers busy, with two bursts each
	places chan struct{}
	queued atomic.Int32 // streams that wait for one
}

func newTurns(workers int) turns { return turns{places: make(chan struct{}, max(1, workers/2))} }

// calm is how many bursts in a row, about a whole ring, a client has not waited for when it is not
// hungry any more: that it waits again is often heard one burst later.
const calm = 4

// diner is a stream as turns see it.
type diner struct {
	waited bool // the client has waited since the latest burst was announced
	hungry bool // it does so again and again
	bursts int  // since it did
	seated bool // it has a turn
	until  time.Time
}

// announced takes in that a burst was.
func (d *diner) announced() {
	if d.bursts++; d.waited {
		d.bursts = 0
	}
	d.hungry = d.waited || d.hungry && d.bursts < calm
	d.waited = false
}

// sit tells whether a burst may be begun now; a hungry stream needs a turn for that, and waits for
// it, if it shall, without being counted as working.
func (d *diner) sit(t *turns, l *load, wait bool) bool {
	if !d.hungry || d.seated && t.queued.Load() > 0 && time.Now().After(d.until) {
		d.rise(t)
	}
	if !d.hungry || d.seated {
		return true
	}
	select {
	case t.places <- struct{}{}:
	default:
		if !wait {
			return false
		}
		l.end()
		t.queued.Add(1)
		t.places <- struct{}{} // who has one never waits for its own client
		t.queued.Add(-1)
		l.begin()
	}
	d.seated = true
	d.until = time.Now().Add(min(longestTurn, cycle/time.Duration(1+t.queued.Load())))
	return true
}

// rise ends the stream's turn, if it has one.
func (d *diner) rise(t *turns) {
	if d.seated {
		<-t.places
		d.seated = false
	}
}
