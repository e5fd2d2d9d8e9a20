package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/mmapfile"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
)

// maxRemembered is how many jobs the queue lists; the oldest ended ones are dropped.
const maxRemembered = 100

// Queue starts jobs when cores are free, divides the cores among those that run, and remembers the
// last jobs. It does not know what a job does. It is safe for concurrent use.
type Queue struct {
	log   *slog.Logger
	cores int
	now   func() time.Time

	ctx     context.Context // the parent of the context of each job
	cancel  context.CancelFunc
	running sync.WaitGroup // jobs that have not ended

	mu         sync.Mutex
	closed     bool
	lastNumber int // of the newest job
	ended      int
	totals     Totals
	jobs       []*Job        // oldest first
	changed    chan struct{} // closed at the next change of any job
}

// newQueue returns a queue that divides this number of cores; 0 means those that Go may use.
func newQueue(cores int, log *slog.Logger) *Queue {
	if cores == 0 {
		cores = runtime.GOMAXPROCS(0)
	}
	q := &Queue{log: log, cores: cores, now: time.Now, changed: make(chan struct{}),
		totals: newTotals()}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	return q
}

// Close refuses new jobs, cancels all others and waits until they have ended. It is idempotent.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.cancel()
	q.running.Wait()
}

// begin reports whether the queue is open, and counts work that Close must wait for. If it is, the
// caller must call q.running.Done.
func (q *Queue) begin() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.running.Add(1)
	}
	return !q.closed
}

// work is what a job does. The context is cancelled when the job is.
type work func(context.Context, *Job) (result, error)

// result is the generation that a job made. hit says that the generation existed before.
type result struct {
	generation int64
	manifest   *layout.Manifest
	hit        bool
}

// start adds a job and returns its state, or joins one that does the same. It does not wait for the
// job.
func (q *Queue) start(kind, dataset, key string, do work) (wire.Job, error) {
	return q.startJob(wire.Job{Kind: kind, Dataset: dataset}, key, do)
}

// startJob is start for a job whose first state has other fields too.
func (q *Queue) startJob(first wire.Job, key string, do work) (wire.Job, error) {
	job, ctx, owner, err := q.add(first, key)
	if err != nil {
		return wire.Job{}, err
	}
	if ctx != nil {
		go func() {
			defer q.running.Done()
			_, _ = q.run(ctx, job, do)
		}()
	}
	state := job.State()
	state.Owner = owner
	return state, nil
}

// add registers a job. If a job with the same key has not ended, it adds an owner to that one and
// returns a nil context. Jobs with an empty key are always new. For a new job, the caller must call
// run and then q.running.Done.
func (q *Queue) add(first wire.Job, key string) (job *Job, ctx context.Context, owner string,
	err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil, nil, "", store.ErrClosed
	}
	for _, other := range q.jobs {
		if key != "" && other.key == key && !other.state.Ended() && len(other.owners) > 0 {
			return other, nil, other.addOwner(), nil
		}
	}
	q.lastNumber++
	first.Job, first.State = fmt.Sprintf("j%d", q.lastNumber), wire.JobQueued
	job = &Job{
		queue: q, key: key, owners: map[string]bool{}, state: first,
		started: make(chan struct{}), cores: make(chan int, 1), done: make(chan struct{}),
	}
	ctx, job.cancel = context.WithCancel(q.ctx)
	q.jobs = append(q.jobs, job)
	for len(q.jobs) > maxRemembered && q.jobs[0].state.Ended() {
		q.jobs = q.jobs[1:]
	}
	q.running.Add(1)
	q.schedule()
	return job, ctx, job.addOwner(), nil
}

// run waits until the job is started, does its work and records the result.
func (q *Queue) run(ctx context.Context, job *Job, do work) (result, error) {
	var r result
	var err error
	select {
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-job.started:
		r, err = doRecovering(ctx, job, do)
	}
	job.cancel()
	q.mu.Lock()
	defer q.mu.Unlock()
	job.finish(r, err)
	if err == nil {
		q.log.Info("job done", "job", job.state.Job, "kind", job.state.Kind,
			"dataset", job.state.Dataset, "generation", r.generation, "rows", r.manifest.Rows,
			"hit", r.hit, "seconds", job.state.Seconds)
	} else {
		q.log.Info("job failed", "job", job.state.Job, "kind", job.state.Kind,
			"dataset", job.state.Dataset, "error", err)
		if e := (*ingest.SourceError)(nil); errors.As(err, &e) && e.Panic != "" {
			q.log.Error("a decoder panicked", "job", job.state.Job, "panic", e.Panic)
		}
	}
	q.ended++
	q.totals.add(job.state)
	close(job.done)
	q.schedule()
	return r, err
}

// doRecovering does the work of a job. It returns a panic as an error, so that a damaged file does
// not end the daemon.
func doRecovering(ctx context.Context, job *Job, do work) (r result, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = mmapfile.PanicError("the daemon failed", p)
		}
	}()
	return do(ctx, job)
}

// Running returns how many jobs have not ended: those that run and those that are queued.
func (q *Queue) Running() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for _, job := range q.jobs {
		if !job.state.Ended() {
			n++
		}
	}
	return n
}

// Ended returns how many jobs have ended since the start.
func (q *Queue) Ended() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ended
}

// Totals returns sums over all jobs that have ended.
func (q *Queue) Totals() Totals {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.totals.clone()
}

// Changes returns a channel that is closed at the next change of any job.
func (q *Queue) Changes() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.changed
}

// notify closes the channel of Changes. The caller holds mu.
func (q *Queue) notify() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// List returns the states of the remembered jobs, oldest first.
func (q *Queue) List() []wire.Job {
	q.mu.Lock()
	jobs := slices.Clone(q.jobs)
	q.mu.Unlock()
	states := make([]wire.Job, len(jobs))
	for i, job := range jobs {
		states[i] = job.State()
	}
	return states
}

// Find returns the remembered job with this name.
func (q *Queue) Find(id string) (*Job, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, job := range q.jobs {
		if job.state.Job == id {
			return job, nil
		}
	}
	return nil, wire.NewProblem(wire.JobNotFound, "no job is named %q; the last %d are remembered",
		id, maxRemembered).WithField("job").WithHint("tensorcache jobs lists them")
}

// Wait waits until a job has ended, at most this long, and returns its state.
func (q *Queue) Wait(id string, timeout time.Duration) (wire.Job, error) {
	job, err := q.Find(id)
	if err != nil {
		return wire.Job{}, err
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-job.done:
	case <-timer.C:
	}
	return job.State(), nil
}

// Cancel cancels a job, waits until it has ended and returns its state. A job that has ended stays
// as it is. With an owner, Cancel removes only this owner, and the job goes on if it has others.
func (q *Queue) Cancel(id, owner string) (wire.Job, error) {
	job, err := q.Find(id)
	if err != nil {
		return wire.Job{}, err
	}
	if owner != "" {
		others, err := job.removeOwner(owner)
		if err != nil || others {
			return job.State(), err
		}
	}
	q.mu.Lock()
	clear(job.owners) // so that nobody joins it any more
	q.mu.Unlock()
	job.cancel()
	<-job.done
	return job.State(), nil
}
