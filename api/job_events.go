package api

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/jobs"
)

// jobEvents is the event source of one job. It sends the job's state when it has changed, at most
// every minEventGap, and ends when the job has ended.
type jobEvents struct {
	queue    *jobs.Queue
	job      *jobs.Job
	lastSent []byte // the state that was sent last, without its times
	lastTime time.Time
	wait     <-chan struct{}
}

func (s *Server) jobEvents(ctx *fasthttp.RequestCtx, id string) error {
	job, err := s.Jobs.Find(id)
	if err != nil {
		return err
	}
	return s.replyStream(ctx, func() eventSource {
		return &jobEvents{queue: s.Jobs.Queue, job: job}
	})
}

func (j *jobEvents) next() ([]byte, bool) {
	j.wait = j.queue.Changes() // before State, so that no change is missed
	state := j.job.State()
	if remaining := minEventGap - time.Since(j.lastTime); remaining > 0 && !state.Ended() {
		wait := make(chan struct{})
		time.AfterFunc(remaining, func() { close(wait) })
		j.wait = wait
		return nil, false
	}
	timeless := state
	timeless.Seconds, timeless.EtaS = 0, nil
	now, err := json.Marshal(timeless)
	if err != nil || bytes.Equal(now, j.lastSent) {
		return nil, state.Ended()
	}
	body, err := json.Marshal(state)
	if err != nil {
		return nil, true
	}
	j.lastSent, j.lastTime = now, time.Now()
	return appendEvent(nil, "job", body), state.Ended()
}

func (j *jobEvents) ready() <-chan struct{} { return j.wait }

func (j *jobEvents) close() {}
