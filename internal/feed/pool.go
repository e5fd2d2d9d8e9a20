package feed

import (
	"runtime"
	"sync"

	"github.com/tensorcache/tensorcache/sampler"
)

// gather is one batch that is to be written into a slot.
type gather struct {
	filler *filler
	slot   []byte
	batch  *sampler.Batch
	done   *sync.WaitGroup
}

// pool is the gather workers, one per core, that all streams share. Streams ask in bursts, so they are served
// in turn.
type pool struct {
	work    chan gather
	workers int
	running sync.WaitGroup
}

func newPool() *pool {
	n := runtime.GOMAXPROCS(0)
	p := &pool{work: make(chan gather, 2*n), workers: n}
	for range n {
		p.running.Go(func() {
			for g := range p.work {
				g.filler.fill(g.slot, g.batch)
				g.done.Done()
			}
		})
	}
	return p
}

// close ends the workers; no stream may gather any more.
func (p *pool) close() {
	close(p.work)
	p.running.Wait()
}
