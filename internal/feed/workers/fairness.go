package workers

import (
	"sync/atomic"
	"time"
)

// All starved feeds together have about one turn each in turnCycle, and a turn lasts at most
// maxTurn. A turn must be long enough for a ring to be worth its place in the CPU cache: with 10 ms
// each of four trainers got 0.89 to 1.1 times what one got alone, with 5 ms 0.83, with 2 ms 0.64,
// and batch by batch 0.67 (docs/performance.md).
const (
	turnCycle = 40 * time.Millisecond
	maxTurn   = 10 * time.Millisecond
)

// recoveryBursts is the number of bursts in a row, about a whole ring, after which a starved feed
// is no longer starved if its client has not waited for any. A wait is often known one burst later.
const recoveryBursts = 4

// turns limits how many starved feeds use the workers at the same time. If all did, their rings
// would evict each other from the CPU cache, and to fill a ring that is not in the cache takes half
// as much time again. A feed loses nothing: it gets the batches that it missed in its own turns.
// Feeds that are not starved are served at any time, so that their rings stay full.
type turns struct {
	tokens chan struct{} // of starved feeds that have a turn: enough to keep all workers busy
	queued atomic.Int32  // feeds that wait for a turn
}

// Each feed has two bursts at a time, so half as many feeds as workers keep the workers busy.
func newTurns(workers int) turns { return turns{tokens: make(chan struct{}, max(1, workers/2))} }

// Turn is the state of one feed in the fair sharing of the workers. It belongs to the goroutine of
// the feed.
type Turn struct {
	pool    *Pool
	starved bool // its client waits for batches again and again
	bursts  int  // since the client has waited
	has     bool
	until   time.Time
}

// NewTurn returns the state of a new feed, which is not starved.
func (p *Pool) NewTurn() Turn { return Turn{pool: p} }

// Announced records that a burst was announced. clientWaited says that the client has waited since
// the burst before.
func (t *Turn) Announced(clientWaited bool) {
	if t.bursts++; clientWaited {
		t.bursts = 0
	}
	t.starved = clientWaited || t.starved && t.bursts < recoveryBursts
}

// Acquire reports whether the feed may begin a burst now. A starved feed needs a turn, and waits
// for it if wait is set, without being counted as busy.
func (t *Turn) Acquire(wait bool) bool {
	turns := &t.pool.turns
	if !t.starved || t.has && turns.queued.Load() > 0 && time.Now().After(t.until) {
		t.Release()
	}
	if !t.starved || t.has {
		return true
	}
	select {
	case turns.tokens <- struct{}{}:
	default:
		if !wait {
			return false
		}
		t.pool.End()
		turns.queued.Add(1)
		// cannot deadlock: a feed that has a turn never waits for its client
		turns.tokens <- struct{}{}
		turns.queued.Add(-1)
		t.pool.Begin()
	}
	t.has = true
	t.until = time.Now().Add(min(maxTurn, turnCycle/time.Duration(1+turns.queued.Load())))
	return true
}

// Release ends the feed's turn, if it has one.
func (t *Turn) Release() {
	if t.has {
		<-t.pool.turns.tokens
		t.has = false
	}
}

// NotStarved ends the feed's turn and records that it is not starved: it waits for a disk, not for
// the workers.
func (t *Turn) NotStarved() {
	t.Release()
	t.starved = false
}

// Waiting returns the number of feeds that wait for a turn.
func (p *Pool) Waiting() int { return int(p.turns.queued.Load()) }
