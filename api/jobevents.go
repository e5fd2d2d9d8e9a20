package api

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/valyala/fasthttp"
)

// jobEvents sends a job whenever it has changed, at most every eventGap, and ends with it.
type jobEvents struct {
	jobs *Jobs
	job  *job
	last []byte // what was sent, without its clock
	at   time.Time
	wait <-chan struct{}
}

func (s *Server) jobEvents(ctx *fasthttp.RequestCtx, id string) error {
	t, err := s.Jobs.find(id)
	if err != nil {
		return err
	}
	return s.replyStream(ctx, func() source { return &jobEvents{jobs: s.Jobs, job: t} })
}

func (j *jobEvents) take() ([]byte, bool) {
	j.wait = j.jobs.changes() // before looking, or a change could be missed
	state := j.jobs.snapshot(j.job)
	if left := eventGap - time.Since(j.at); left > 0 && !state.Ended() {
		wait := make(chan struct{})
		time.AfterFunc(left, func() { close(wait) })
		j.wait = wait
		return nil, false
	}
	timeless := state
	timeless.Seconds, timeless.EtaS = 0, nil
	now, err := json.Marshal(timeless)
	if err != nil || bytes.Equal(now, j.last) {
		return nil, state.Ended()
	}
	body, err := json.Marshal(state)
	if err != nil {
		return nil, true
	}
	j.last, j.at = now, time.Now()
	return event(nil, "job", body), state.Ended()
}

func (j *jobEvents) ready() <-chan struct{} { return j.wait }

func (j *jobEvents) leave() {}
