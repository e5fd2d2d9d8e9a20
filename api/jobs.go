package api

import (
	"slices"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/wire"
)

var jobRoutes = []route{
	{"GET", "/v1/jobs", noArg((*Server).listJobs)},
	{"GET", "/v1/jobs/{id}", oneArg((*Server).showJob)},
	{"DELETE", "/v1/jobs/{id}", oneArg((*Server).cancelJob)},
}

// jobStates are the values of the parameter state.
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
		return wire.NewProblem(wire.InvalidRequest, "state: got %q, want %s", shorten(state),
			strings.Join(jobStates, ", ")).WithField("state")
	}
	jobs := slices.DeleteFunc(s.Jobs.List(), func(j wire.Job) bool {
		return q.Has("state") && j.State != state || q.Has("dataset") && j.Dataset != dataset
	})
	return reply(ctx, 200, jobPage(p, jobs))
}

// jobPage returns a page of jobs, oldest first.
func jobPage(p pageRequest, jobs []wire.Job) wire.Jobs {
	list, next := cutPage(p, jobs, func(j wire.Job) string { return j.Job }, compareNumbered)
	return wire.Jobs{Jobs: list, Next: next}
}

// maxWait is how long a request may wait for the end of a job.
const maxWait = 30 * time.Second

func (s *Server) showJob(ctx *fasthttp.RequestCtx, id string) error {
	ms, err := queryOf(ctx).number("wait_ms", 0, 0, maxWait.Milliseconds())
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

func (s *Server) load(ctx *fasthttp.RequestCtx, name string) error {
	var o ingest.Options
	if err := readBody(ctx, &o); err != nil {
		return err
	}
	o.AllowedRoots = s.allowedRoots(ctx)
	job, err := s.Jobs.Load(name, o)
	return replyStarted(ctx, job, err)
}

func (s *Server) appendRows(ctx *fasthttp.RequestCtx, name string) error {
	var a wire.Append
	if err := readBody(ctx, &a); err != nil {
		return err
	}
	job, err := s.Jobs.Append(name, a, s.allowedRoots(ctx))
	return replyStarted(ctx, job, err)
}

func (s *Server) findRanges(ctx *fasthttp.RequestCtx, name string) error {
	of, err := queryOf(ctx).oneOf("of", wire.LoadJob, wire.AppendJob)
	if err != nil {
		return err
	}
	var o ingest.Options
	if err := readBody(ctx, &o); err != nil {
		return err
	}
	o.AllowedRoots = s.allowedRoots(ctx)
	answer, err := s.Jobs.Ranges(name, o, of == wire.AppendJob)
	if err != nil {
		return err
	}
	return reply(ctx, 200, answer)
}

func (s *Server) scaled(ctx *fasthttp.RequestCtx, name string) error {
	var r wire.Scaled
	if err := readBody(ctx, &r); err != nil {
		return err
	}
	job, err := s.Jobs.Scaled(name, r)
	return replyStarted(ctx, job, err)
}

func (s *Server) verify(ctx *fasthttp.RequestCtx, name string) error {
	var v wire.Verify
	if err := readOptionalBody(ctx, &v); err != nil {
		return err
	}
	job, err := s.Jobs.Verify(name, v.Generation)
	return replyStarted(ctx, job, err)
}

func (s *Server) preload(ctx *fasthttp.RequestCtx, name string) error {
	job, err := s.Jobs.Preload(name)
	return replyStarted(ctx, job, err)
}

// replyStarted answers with the state of a job that was started, or with the error.
func replyStarted(ctx *fasthttp.RequestCtx, job wire.Job, err error) error {
	if err != nil {
		return err
	}
	return reply(ctx, 202, job)
}
