package feed

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/tensorcache/tensorcache/internal/mmapfile"
	"github.com/tensorcache/tensorcache/sampler"
)

// gather is one batch that is to be written into a slot.
type gather struct {
	filler *filler
	slot   []byte
	batch  *sampler.Batch
	done   *gathers
}

// gathers are those of one burst. A panic of one is an error of its stream and of nobody else.
type gathers struct {
	sync.WaitGroup
	failed atomic.Pointer[error]
}

// Failed is the error of a panic that was recovered: of a page of a dataset's file that is not
// there any more it wraps mmapfile.ErrLost and names the file, of others it says what was being
// done.
func Failed(doing string, recovered any) error {
	if err := mmapfile.Lost(recovered); err != nil {
		return err
	}
	return fmt.Errorf("%s: %v", doing, recovered)
}

// wait returns once all are through.
func (g *gathers) wait() error {
	g.Wait()
	if err := g.failed.Load(); err != nil {
		return *err
	}
	return nil
}

func (g gather) run() {
	defer g.done.Done()
	defer func() {
		if p := recover(); p != nil {
			err := Failed("gather a batch", p)
			g.done.failed.Store(&err)
		}
	}()
	g.filler.fill(g.slot, g.batch)
}

// pool is the gather workers, one per core, that all streams share. Streams ask in bursts, so they
// are served in turn.
type pool struct {
	load
	turns
	work    chan gather
	workers int
	running sync.WaitGroup
}

func newPool() *pool {
	n := runtime.GOMAXPROCS(0)
	p := &pool{work: make(chan gather, 2*n), workers: n, load: load{processors: int32(n)},
		turns: newTurns(n)}
	for range n {
		p.running.Go(func() {
			debug.SetPanicOnFault(true)
			for g := range p.work {
				p.begin()
				g.run()
				p.end()
			}
		})
	}
	return p
}

// await waits for a burst's gathers.
func (p *pool) await(g *gathers) error {
	p.end()
	defer p.begin()
	return g.wait()
}

// close ends the workers; no stream may gather any more.
func (p *pool) close() {
	close(p.work)
	p.running.Wait()
}
