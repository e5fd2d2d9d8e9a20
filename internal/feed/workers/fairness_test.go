package workers

import (
	"runtime"
	"testing"
	"time"
)

// starving returns the turns of a feed of a pool whose client waits for every burst.
func starving(p *Pool) *Turn { return &Turn{pool: p, starved: true} }

func TestAStarvedFeedKeepsItsTurnUntilItEndsOrItIsNotStarved(t *testing.T) {
	for name, ends := range map[string]func(t *Turn){
		"time over": func(t *Turn) { t.until = time.Now().Add(-time.Second) },
		"calm": func(t *Turn) {
			for range recoveryBursts {
				t.Announced(false)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			pool := &Pool{turns: newTurns(3)}
			first, second := starving(pool), starving(pool)
			for range 2 {
				if !first.Acquire(false) {
					t.Fatal("a turn that nobody has, or only it, was refused")
				}
			}
			if second.Acquire(false) {
				t.Fatal("two had the one turn")
			}
			if other := pool.NewTurn(); !other.Acquire(false) || other.has {
				t.Error("a feed that is not starved was queued")
			}
			acquired := make(chan bool)
			go func() { acquired <- second.Acquire(true) }()
			for pool.Waiting() != 1 {
				runtime.Gosched()
			}
			first.until = time.Now().Add(time.Hour)
			if !first.Acquire(false) || !first.has {
				t.Fatal("a turn ended before its time")
			}
			ends(first)
			if name == "calm" {
				if !first.Acquire(false) {
					t.Error("a feed that is not starved any more was queued")
				}
			} else {
				// the second may be queued, but not yet blocked: then the first gets the turn again
				for first.Acquire(false) {
					first.until = time.Now().Add(-time.Second)
					runtime.Gosched()
				}
			}
			if !<-acquired || !second.has || first.has {
				t.Errorf("first has a turn: %v, second: %v, want only the second", first.has,
					second.has)
			}
			second.Release()
			if len(pool.turns.tokens) != 0 || pool.Waiting() != 0 || pool.working.Load() != 0 {
				t.Errorf("%d turns taken, %d queued, %d working; want none", len(pool.turns.tokens),
					pool.Waiting(), pool.working.Load())
			}
		})
	}
}
