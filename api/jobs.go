package api

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tensorcache/tensorcache/internal/ingest"
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
	exe   string
	log   *slog.Logger

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	last   int
	jobs   []*job // oldest first
}

// job is one load; the registry's mu guards state.
type job struct {
	state  wire.Job
	key    string // what it loads: the same load is not started twice
	began  time.Time
	cancel context.CancelFunc
	done   chan struct{}
}

// NewJobs makes a registry whose loads run exe with [ingest.Verb]. Close ends them.
func NewJobs(s *store.Store, exe string, log *slog.Logger) *Jobs {
	j := &Jobs{store: s, exe: exe, log: log}
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
}

// Running counts the loads under way.
func (j *Jobs) Running() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := 0
	for _, o := range j.jobs {
		if o.state.State == wire.JobRunning {
			n++
		}
	}
	return n
}

// Load starts a load of files, or answers with one that already runs or with a hit: a generation that was made from
// the same, unchanged sources in the same way.
func (j *Jobs) Load(name string, o ingest.Options) (wire.Job, error) {
	if err := layout.CheckName(name); err != nil {
		return wire.Job{}, err
	}
	if err := o.Validate(); err != nil {
		return wire.Job{}, err
	}
	if err := checkSources(o.Sources); err != nil {
		return wire.Job{}, err
	}
	sources, err := ingest.Stat(o.Sources)
	if err != nil {
		return wire.Job{}, err
	}
	recipe, err := o.Recipe()
	if err != nil {
		return wire.Job{}, err
	}
	if hit, ok := j.hit(name, recipe, sources); ok {
		return hit, nil
	}
	key := fmt.Sprint(name, string(recipe), sources)
	t, ctx, began, err := j.begin(name, key)
	if err != nil || !began {
		return j.snapshot(t), err
	}
	go func() {
		defer j.running.Done()
		j.end(t, func() (int64, *layout.Manifest, error) { return j.run(ctx, t, ingest.Job{Options: o}, nil) })
	}()
	return j.snapshot(t), nil
}

// checkSources refuses paths that would mean something else to the daemon than to the client.
func checkSources(paths []string) error {
	if len(paths) == 0 {
		return &ingest.OptionError{Field: "sources", Allowed: "at least one file"}
	}
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			return &ingest.OptionError{Field: "sources", Value: p, Allowed: "an absolute path"}
		}
	}
	return nil
}

// Put loads what comes over a connection, and waits for it. It closes conn. Its errors are *wire.Problem.
func (j *Jobs) Put(ctx context.Context, r wire.PutRequest, conn *os.File) (*wire.PutReply, error) {
	defer conn.Close()
	reply, err := j.put(ctx, r, conn)
	if err != nil {
		return nil, problemOf(err) // the feed server, which tells the client, knows nothing of loads
	}
	return reply, nil
}

func (j *Jobs) put(ctx context.Context, r wire.PutRequest, conn *os.File) (*wire.PutReply, error) {
	if err := layout.CheckName(r.Dataset); err != nil {
		return nil, err
	}
	in := ingest.Job{Put: &ingest.Put{Format: r.Format}}
	for field, raw := range map[string]struct {
		json json.RawMessage
		into any
	}{"options": {r.Options, &in.Options}, "columns": {r.Columns, &in.Put.Columns}} {
		if len(raw.json) == 0 {
			continue
		}
		if err := wire.Strict(raw.json, raw.into); err != nil {
			return nil, wire.NewProblem(wire.InvalidRequest, "%s: %s", field, err).WithField(field)
		}
	}
	t, jobCtx, _, err := j.begin(r.Dataset, "")
	if err != nil {
		return nil, err
	}
	defer j.running.Done()
	stop := context.AfterFunc(ctx, t.cancel)
	defer stop()
	var m *layout.Manifest
	var number int64
	err = j.end(t, func() (n int64, _ *layout.Manifest, err error) {
		number, m, err = j.run(jobCtx, t, in, conn)
		return number, m, err
	})
	if err != nil {
		return nil, err
	}
	return &wire.PutReply{Protocol: wire.Protocol, Dataset: r.Dataset, Generation: number, Digest: m.Digest, Rows: m.Rows}, nil
}

// hit finds out whether the newest generation is what a load would make, and usable.
func (j *Jobs) hit(name string, recipe json.RawMessage, sources []layout.Source) (wire.Job, bool) {
	i, err := j.store.Dataset(name)
	if err != nil || !sameJSON(i.Manifest.Recipe, recipe) || !slices.Equal(i.Manifest.Sources, sources) {
		return wire.Job{}, false
	}
	h, err := j.store.Acquire(name, i.Generation)
	if err != nil {
		return wire.Job{}, false
	}
	h.Release()
	return wire.Job{Job: "hit", State: wire.JobDone, Dataset: name, Generation: i.Generation, Digest: i.Manifest.Digest, Rows: i.Manifest.Rows, RowsTotal: i.Manifest.Rows, Hit: true}, true
}

// sameJSON compares values; a manifest is written with indentation.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, err := json.Marshal(x)
	q, err2 := json.Marshal(y)
	return err == nil && err2 == nil && string(p) == string(q)
}

// begin registers a job, counted in running, unless one with the same key runs already.
func (j *Jobs) begin(name, key string) (t *job, ctx context.Context, began bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil, nil, false, store.ErrClosed
	}
	for _, o := range j.jobs {
		if key != "" && o.key == key && o.state.State == wire.JobRunning {
			return o, nil, false, nil
		}
	}
	j.last++
	t = &job{state: wire.Job{Job: fmt.Sprintf("j%d", j.last), State: wire.JobRunning, Dataset: name}, key: key, began: time.Now(), done: make(chan struct{})}
	ctx, t.cancel = context.WithCancel(j.ctx)
	j.jobs = append(j.jobs, t)
	for len(j.jobs) > keptJobs && j.jobs[0].state.State != wire.JobRunning {
		j.jobs = j.jobs[1:]
	}
	j.running.Add(1)
	return t, ctx, true, nil
}

// run loads into a directory of its own and publishes it.
func (j *Jobs) run(ctx context.Context, t *job, in ingest.Job, conn *os.File) (int64, *layout.Manifest, error) {
	l, err := j.store.Begin(t.state.Dataset)
	if err != nil {
		return 0, nil, err
	}
	defer func() {
		if err := l.Abort(); err != nil {
			j.log.Error("remove an unfinished load", "dir", l.Dir, "error", err)
		}
	}()
	in.Dir = l.Dir
	m, err := ingest.Run(ctx, j.exe, in, conn, func(p ingest.Progress) {
		j.mu.Lock()
		defer j.mu.Unlock()
		t.state.Phase, t.state.Rows, t.state.RowsTotal, t.state.Bytes, t.state.BytesTotal = p.Phase, p.Rows, p.RowsTotal, p.Bytes, p.BytesTotal
	})
	if err != nil {
		return 0, nil, err
	}
	number, err := l.Publish()
	return number, m, err
}

// end runs a job's work and notes what became of it.
func (j *Jobs) end(t *job, work func() (int64, *layout.Manifest, error)) error {
	number, m, err := guarded(work)
	t.cancel()
	j.mu.Lock()
	defer j.mu.Unlock()
	t.state.Seconds = time.Since(t.began).Seconds()
	t.state.State = wire.JobDone
	if err == nil {
		t.state.Generation, t.state.Digest, t.state.Rows, t.state.RowsTotal = number, m.Digest, m.Rows, m.Rows
		t.state.Bytes = t.state.BytesTotal
		j.log.Info("loaded", "dataset", t.state.Dataset, "generation", number, "rows", m.Rows, "seconds", t.state.Seconds)
	} else {
		t.state.Error = problemOf(err)
		t.state.State = wire.JobFailedIn
		if t.state.Error.Type == wire.Cancelled {
			t.state.State = wire.JobCancelled
		}
		j.log.Info("load failed", "dataset", t.state.Dataset, "error", err)
	}
	close(t.done)
	return err
}

// guarded turns a panic into an error: a damaged file is no reason for the daemon to end.
func guarded(work func() (int64, *layout.Manifest, error)) (number int64, m *layout.Manifest, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("load: %v", p)
		}
	}()
	return work()
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
		s.Seconds = time.Since(t.began).Seconds()
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
	return nil, wire.NewProblem(wire.JobNotFound, "no job is named %q; the last %d are remembered", id, keptJobs).WithField("job")
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

// Cancel ends a job and waits for its end; one that has ended stays as it is.
func (j *Jobs) Cancel(id string) (wire.Job, error) {
	t, err := j.find(id)
	if err != nil {
		return wire.Job{}, err
	}
	t.cancel()
	<-t.done
	return j.snapshot(t), nil
}
