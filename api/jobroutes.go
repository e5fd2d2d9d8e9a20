package api

import (
	"slices"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/wire"
)

var jobRoutes = []route{
	{"GET", "/v1/jobs", plain((*Server).listJobs)},
	{"GET", "/v1/jobs/{id}", named((*Server).showJob)},
	{"DELETE", "/v1/jobs/{id}", named((*Server).cancelJob)},
}

// jobStates are those that jobs are listed by.
var jobStates = []string{wire.JobQueued, wire.JobRunning, wire.JobDone, wire.JobFailedIn,
	wire.JobCancelled}

func (s *Server) listJobs(ctx *fasthttp.RequestCtx) error {
	p, err := readPaging(ctx)
	if err == nil {
		err = p.checkNumbered("j")
	}
	if err != nil {
		return err
	}
	q := ctx.QueryArgs()
	state, dataset := string(q.Peek("state")), string(q.Peek("dataset"))
	if q.Has("state") && !slices.Contains(jobStates, state) {
		return wire.NewProblem(wire.InvalidRequest, "state: got %q, want %s", shortened(state),
			strings.Join(jobStates, ", ")).WithField("state")
	}
	jobs := slices.DeleteFunc(s.Jobs.List(), func(j wire.Job) bool {
		return q.Has("state") && j.State != state || q.Has("dataset") && j.Dataset != dataset
	})
	return reply(ctx, 200, jobPage(p, jobs))
}

// jobPage is a page of jobs, oldest first.
func jobPage(p paging, jobs []wire.Job) wire.Jobs {
	list, next := page(p, jobs, func(j wire.Job) string { return j.Job }, byNumber)
	return wire.Jobs{Jobs: list, Next: next}
}

// longestWait bounds how long a request for a job may wait for its end.
const longestWait = 30 * time.Second

func (s *Server) showJob(ctx *fasthttp.RequestCtx, id string) error {
	ms, err := queryOf(ctx).number("wait_ms", 0, 0, longestWait.Milliseconds())
	if err != nil {
		return err
	}
	job, err := s.Jobs.Wait(id, time.Duration(ms)*time.Millisecond)
	if err != nil {
		return err
	}
	return reply(ctx, 200, job)
}

func (s *Server) cancelJob(ctx *fasthttp.RequestCtx, id string) error {
	job, err := s.Jobs.Cancel(id, string(ctx.QueryArgs().Peek("owner")))
	if err != nil {
		return err
	}
	return reply(ctx, 200, job)
}
