// Package workers gathers batches on one worker per core, which all feeds share, and decides which
// feed may use the workers.
//
// A feed submits the batches of a burst to the [Pool] and waits for the burst's [Group]. Feeds
// whose trainers take batches faster than they are made take turns at the workers, see [Turn].
//
// # Caveats
//
// The workers end with [Pool.Close], after the last feed. A panic in a gather is an error of its
// group only.
package workers

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/mmapfile"
	"github.com/tensorcache/tensorcache/sampler"
)

// Pool is the gather workers, one per core. It is safe for concurrent use.
type Pool struct {
	Busy
	turns   turns
	tasks   chan task
	size    int
	running sync.WaitGroup
}

// task is one batch to be written into a slot.
type task struct {
	filler *batch.Filler
	slot   []byte
	batch  *sampler.Batch
	group  *Group
}

// Group is the gathers of one burst. The zero value is empty.
type Group struct {
	pending sync.WaitGroup
	failed  atomic.Pointer[error]
}

// NewPool starts the workers. Close ends them.
func NewPool() *Pool {
	n := runtime.GOMAXPROCS(0)
	p := &Pool{tasks: make(chan task, 2*n), size: n, Busy: Busy{processors: int32(n)},
		turns: newTurns(n)}
	for range n {
		p.running.Go(func() {
			debug.SetPanicOnFault(true)
			for j := range p.tasks {
				p.Begin()
				j.run()
				p.End()
			}
		})
	}
	return p
}

// Size returns the number of workers.
func (p *Pool) Size() int { return p.size }

// Gather has a worker write a batch into a slot. It waits if all workers have more than one batch
// to do. The arguments must stay unchanged until Await returns for the group.
func (p *Pool) Gather(g *Group, f *batch.Filler, slot []byte, b *sampler.Batch) {
	g.pending.Add(1)
	p.tasks <- task{f, slot, b, g}
}

func (j task) run() {
	defer j.group.pending.Done()
	defer func() {
		if p := recover(); p != nil {
			err := mmapfile.PanicError("gather a batch", p)
			j.group.failed.Store(&err)
		}
	}()
	j.filler.Fill(j.slot, j.batch)
}

// Await waits for the gathers of a group, without being counted as busy. The error is that of one
// that has failed.
func (p *Pool) Await(g *Group) error {
	p.End()
	defer p.Begin()
	g.Wait()
	if err := g.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Wait waits until no gather of the group is running.
func (g *Group) Wait() { g.pending.Wait() }

// Close ends the workers. No feed may gather any more.
func (p *Pool) Close() {
	close(p.tasks)
	p.running.Wait()
}
