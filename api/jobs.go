package api

import (
	"context"
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

// keptJobs is how many ended jobs can still be asked for.
const keptJobs = 100

// Jobs runs loads, each in its own child process, and remembers the last of them. It is safe for
// concurrent use.
type Jobs struct {
	store *store.Store
	runs  *ingest.Runner
	log   *slog.Logger
	cores int
	now   func() time.Time

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	last   int
	ended  int
	totals totals
	jobs   []*job        // oldest first
	change chan struct{} // closed at the next change of any of them
}

// job is one load, or other work; the registry's mu guards all that changes.
type job struct {
	state    wire.Job
	key      string // what it does: the same is not started twice
	began    time.Time
	begun    chan struct{} // closed when its turn comes
	cores    chan int      // the newest number of cores, until it is passed on
	estimate estimate
	owners   map[string]bool // who waits for it
	joined   int             // how many have ever
	cancel   context.CancelFunc
	done     chan struct{}
}

// NewJobs makes a registry whose loads run exe with [ingest.Verb]. Close ends them.
func NewJobs(s *store.Store, exe string, log *slog.Logger) *Jobs {
	j := &Jobs{store: s, runs: &ingest.Runner{Exe: exe}, log: log, cores: runtime.GOMAXPROCS(0),
		now: time.Now, change: make(chan struct{}), totals: newTotals()}
	j.ctx, j.cancel = context.WithCancel(context.Background())
	return j
}

// Close cancels what runs and waits for it. It is idempotent.
func (j *Jobs) Close() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.cancel()
	j.running.Wait()
	j.runs.Settle()
}

// Running counts the loads under way, those that wait for their turn too.
func (j *Jobs) Running() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := 0
	for _, t := range j.jobs {
		if !t.state.Ended() {
			n++
		}
	}
	return n
}

// start has a job do its work, or joins one that does the same, and tells how it is. It takes no
// part in the job after that.
func (j *Jobs) start(kind, name, key string,
	work func(context.Context, *job) (made, error)) (wire.Job, error) {
	t, ctx, owner, began, err := j.begin(kind, name, key)
	if err != nil {
		return wire.Job{}, err
	}
	if began {
		go func() {
			defer j.running.Done()
			_, _ = j.end(ctx, t, func() (made, error) { return work(ctx, t) })
		}()
	}
	said := j.snapshot(t)
	said.Owner = owner
	return said, nil
}

// begin registers a job, counted in running, unless one with the same key runs already; then it is
// joined. With an empty key it is joined by none. The owner is who may take the wish back.
func (j *Jobs) begin(kind, name, key string) (t *job, ctx context.Context, owner string,
	began bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil, nil, "", false, store.ErrClosed
	}
	for _, o := range j.jobs {
		if key != "" && o.key == key && !o.state.Ended() && len(o.owners) > 0 {
			return o, nil, o.join(), false, nil
		}
	}
	j.last++
	t = &job{
		state: wire.Job{Job: fmt.Sprintf("j%d", j.last), Kind: kind, State: wire.JobQueued,
			Dataset: name}, key: key, owners: map[string]bool{},
		begun: make(chan struct{}), cores: make(chan int, 1), done: make(chan struct{}),
	}
	ctx, t.cancel = context.WithCancel(j.ctx)
	j.jobs = append(j.jobs, t)
	for len(j.jobs) > keptJobs && j.jobs[0].state.Ended() {
		j.jobs = j.jobs[1:]
	}
	j.running.Add(1)
	j.share()
	return t, ctx, t.join(), true, nil
}

// changes is closed at the next change of any job.
func (j *Jobs) changes() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.change
}

// endedJobs counts those that have ended so far.
func (j *Jobs) endedJobs() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.ended
}

// touch says that a job has changed. The caller holds mu.
func (j *Jobs) touch() {
	close(j.change)
	j.change = make(chan struct{})
}

// join adds an owner. The caller holds mu.
func (t *job) join() string {
	t.joined++
	owner := fmt.Sprintf("%s.%d", t.state.Job, t.joined)
	t.owners[owner] = true
	return owner
}

// made is what a job's work has led to: a generation, which was there before where it is a hit.
type made struct {
	generation int64
	manifest   *layout.Manifest
	hit        bool
}

// end waits for a job's turn, runs its work and notes what became of it.
func (j *Jobs) end(ctx context.Context, t *job, work func() (made, error)) (made, error) {
	var m made
	var err error
	select {
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-t.begun:
		m, err = guarded(work)
	}
	t.cancel()
	j.mu.Lock()
	defer j.mu.Unlock()
	t.state.Seconds = t.seconds(j.now())
	t.state.State = wire.JobDone
	t.state.EtaS = nil
	if err == nil {
		t.state.Generation, t.state.Digest, t.state.Rows, t.state.RowsTotal,
			t.state.Hit = m.generation, m.manifest.Digest, m.manifest.Rows, m.manifest.Rows, m.hit
		t.state.DTypeError = m.manifest.DTypeErrors()
		t.state.Bytes, t.state.Progress = t.state.BytesTotal, 1
		j.log.Info("job done", "job", t.state.Job, "kind", t.state.Kind, "dataset", t.state.Dataset,
			"generation", m.generation, "rows", m.manifest.Rows, "hit", m.hit, "seconds",
			t.state.Seconds)
	} else {
		t.state.Error = problemOf(err)
		t.state.State = wire.JobFailedIn
		if t.state.Error.Type == wire.Cancelled {
			t.state.State = wire.JobCancelled
		}
		j.log.Info("job failed", "job", t.state.Job, "kind", t.state.Kind, "dataset",
			t.state.Dataset, "error", err)
	}
	t.state.Cores = 0
	j.ended++
	j.totals.count(t.state)
	close(t.done)
	j.share()
	return m, err
}

// guarded turns a panic into an error: a damaged file is no reason for the daemon to end.
func guarded(work func() (made, error)) (m made, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = mmapfile.PanicError("the daemon failed", p)
		}
	}()
	return work()
}

// seconds is how long the job has run. The caller holds mu.
func (t *job) seconds(now time.Time) float64 {
	if t.began.IsZero() {
		return 0
	}
	return now.Sub(t.began).Seconds()
}

// snapshot copies a job's state.
func (j *Jobs) snapshot(t *job) wire.Job {
	if t == nil {
		return wire.Job{}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	s := t.state
	if s.State == wire.JobRunning {
		now := j.now()
		s.Seconds, s.Progress, s.EtaS = t.seconds(now), t.estimate.share,
			t.estimate.eta(now.Sub(t.began))
	}
	return s
}

// List gives the jobs that run and the last that ended, oldest first.
func (j *Jobs) List() []wire.Job {
	j.mu.Lock()
	jobs := slices.Clone(j.jobs)
	j.mu.Unlock()
	out := make([]wire.Job, len(jobs))
	for i, t := range jobs {
		out[i] = j.snapshot(t)
	}
	return out
}

func (j *Jobs) find(id string) (*job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, t := range j.jobs {
		if t.state.Job == id {
			return t, nil
		}
	}
	return nil, wire.NewProblem(wire.JobNotFound, "no job is named %q; the last %d are remembered",
		id, keptJobs).WithField("job").WithHint("tensorcache jobs lists them")
}

// Wait gives a job's state once it has ended, or after so long.
func (j *Jobs) Wait(id string, most time.Duration) (wire.Job, error) {
	t, err := j.find(id)
	if err != nil {
		return wire.Job{}, err
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-t.done:
	case <-timer.C:
	}
	return j.snapshot(t), nil
}

// Cancel ends a job and waits for its end; one that has ended stays as it is. With an owner, only
// that one's wish is taken back, and the job goes on while others wait for it.
func (j *Jobs) Cancel(id, owner string) (wire.Job, error) {
	t, err := j.find(id)
	if err != nil {
		return wire.Job{}, err
	}
	if owner != "" {
		wanted, err := j.leave(t, owner)
		if err != nil || wanted {
			return j.snapshot(t), err
		}
	}
	j.mu.Lock()
	clear(t.owners) // nobody joins it any more
	j.mu.Unlock()
	t.cancel()
	<-t.done
	return j.snapshot(t), nil
}

// leave takes an owner's wish back and tells whether others are left.
func (j *Jobs) leave(t *job, owner string) (wanted bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !t.owners[owner] {
		return false, wire.NewProblem(wire.InvalidRequest, "owner: %q does not wait for job %s",
			owner, t.state.Job).WithField("owner").
			WithHint("the answer to each load has its owner; without one the job is cancelled for all")
	}
	delete(t.owners, owner)
	return len(t.owners) > 0, nil
}
