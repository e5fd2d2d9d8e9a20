package jobs

import "github.com/tensorcache/tensorcache/internal/wire"

// schedule starts queued jobs and divides the cores among all jobs that run. It runs at most as
// many jobs as there are cores, in the order in which they were added. A put does not count and
// starts at once: its speed depends on the client, which waits on the connection. The caller holds
// mu.
func (q *Queue) schedule() {
	defer q.notify()
	var running []*Job
	counted := 0 // running jobs that are not puts
	for _, job := range q.jobs {
		if job.state.State == wire.JobRunning {
			running = append(running, job)
			if !job.isPut() {
				counted++
			}
		}
	}
	for _, job := range q.jobs {
		if job.state.State != wire.JobQueued || !job.isPut() && counted >= q.cores {
			continue
		}
		if !job.isPut() {
			counted++
		}
		job.state.State, job.startTime = wire.JobRunning, q.now()
		close(job.started)
		running = append(running, job)
	}
	for i, job := range running {
		n := q.cores / len(running)
		if i < q.cores%len(running) {
			n++
		}
		job.setCores(max(1, n))
	}
}

// isPut reports whether the rows of the job come over a connection.
func (j *Job) isPut() bool { return j.state.Kind == wire.PutJob }

// setCores sets how many cores the job may use. The caller holds the queue's mutex.
func (j *Job) setCores(cores int) {
	if j.state.Cores == cores {
		return
	}
	j.state.Cores = cores
	select {
	case <-j.cores: // an older number that the work has not received
	default:
	}
	j.cores <- cores
}
