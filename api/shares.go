package api

import "github.com/tensorcache/tensorcache/internal/wire"

// share begins the loads whose turn it is and divides the cores among all that run: as many loads
// of files as there are cores at once, the others in the order they came. A put begins at once: it
// is as fast as its client, who waits on the connection. The caller holds mu.
func (j *Jobs) share() {
	defer j.touch()
	var running []*job
	files := 0
	for _, t := range j.jobs {
		if t.state.State == wire.JobRunning {
			running = append(running, t)
			if !t.put() {
				files++
			}
		}
	}
	for _, t := range j.jobs {
		if t.state.State != wire.JobQueued || !t.put() && files >= j.cores {
			continue
		}
		if !t.put() {
			files++
		}
		t.state.State, t.began = wire.JobRunning, j.now()
		close(t.begun)
		running = append(running, t)
	}
	for i, t := range running {
		n := j.cores / len(running)
		if i < j.cores%len(running) {
			n++
		}
		t.give(max(1, n))
	}
}

// put tells whether the job's work comes over a connection.
func (t *job) put() bool { return t.state.Kind == wire.PutJob }

// give tells a load how many cores it may use. The caller holds mu.
func (t *job) give(cores int) {
	if t.state.Cores == cores {
		return
	}
	t.state.Cores = cores
	select {
	case <-t.cores: // what has not been passed on yet is out of date
	default:
	}
	t.cores <- cores
}
