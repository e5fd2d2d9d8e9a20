package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// Job is one job of a [Queue]. The queue's mutex guards all fields that change.
type Job struct {
	queue     *Queue
	key       string // what the job does; the queue does not start the same twice
	state     wire.Job
	startTime time.Time
	started   chan struct{} // closed when the queue lets the job run
	cores     chan int      // the newest number of cores, until the work receives it
	estimate  estimate
	owners    map[string]bool // clients that want the job
	joined    int             // how many owners were ever added
	cancel    context.CancelFunc
	done      chan struct{} // closed when the job has ended
}

// State returns the state of the job now.
func (j *Job) State() wire.Job {
	j.queue.mu.Lock()
	defer j.queue.mu.Unlock()
	s := j.state
	if s.State == wire.JobRunning {
		now := j.queue.now()
		s.Seconds, s.Progress, s.EtaS = j.seconds(now), j.estimate.share,
			j.estimate.eta(now.Sub(j.startTime))
	}
	return s
}

// setProgress records how far the work is.
func (j *Job) setProgress(p ingest.Progress) {
	j.queue.mu.Lock()
	defer j.queue.mu.Unlock()
	s := &j.state
	s.Phase, s.Rows, s.RowsTotal = p.Phase, p.Rows, p.RowsTotal
	s.Bytes, s.BytesTotal = p.Bytes, p.BytesTotal
	j.estimate.set(p.Share)
	j.queue.notify()
}

// finish sets the last state of the job. The caller holds the queue's mutex.
func (j *Job) finish(r result, err error) {
	s := &j.state
	s.Seconds, s.EtaS, s.Cores = j.seconds(j.queue.now()), nil, 0
	if err == nil {
		s.State, s.Progress, s.Bytes = wire.JobDone, 1, s.BytesTotal
		s.Generation, s.Digest, s.Hit = r.generation, r.manifest.Digest, r.hit
		s.Rows, s.RowsTotal = r.manifest.Rows, r.manifest.Rows
		s.DTypeError, s.Notes = r.manifest.DTypeErrors(), r.manifest.Notes
		return
	}
	s.State, s.Error = wire.JobFailedIn, ProblemOf(err)
	if s.Error.Type == wire.Cancelled {
		s.State = wire.JobCancelled
	}
}

// seconds returns how long the job has run. The caller holds the queue's mutex.
func (j *Job) seconds(now time.Time) float64 {
	if j.startTime.IsZero() {
		return 0
	}
	return now.Sub(j.startTime).Seconds()
}

// addOwner returns the name of a new owner. The caller holds the queue's mutex.
func (j *Job) addOwner() string {
	j.joined++
	owner := fmt.Sprintf("%s.%d", j.state.Job, j.joined)
	j.owners[owner] = true
	return owner
}

// removeOwner removes an owner and reports whether the job has others.
func (j *Job) removeOwner(owner string) (others bool, err error) {
	j.queue.mu.Lock()
	defer j.queue.mu.Unlock()
	if !j.owners[owner] {
		return false, wire.NewProblem(wire.InvalidRequest, "owner: %q does not wait for job %s",
			owner, j.state.Job).WithField("owner").
			WithHint("the answer to each load has its owner; " +
				"without one the job is cancelled for all")
	}
	delete(j.owners, owner)
	return len(j.owners) > 0, nil
}
