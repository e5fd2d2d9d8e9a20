package api

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
)

// phaseVerify is that of a job that compares a generation with its checksums.
const phaseVerify = "verify"

// verify begins to compare a generation with its checksums.
func (s *Server) verify(ctx *fasthttp.RequestCtx, name string) error {
	var v wire.Verify
	if err := readIfAny(ctx, &v); err != nil {
		return err
	}
	job, err := s.Jobs.Verify(name, v.Generation)
	if err != nil {
		return err
	}
	return reply(ctx, 202, job)
}

// Verify starts to compare a generation with its checksums, 0 being the newest, or joins who does.
// The job fails with a problem of type corrupt where they differ.
func (j *Jobs) Verify(name string, generation int64) (wire.Job, error) {
	h, err := j.hold(name, generation)
	if err != nil {
		return wire.Job{}, err
	}
	h.Release() // while the job waits for its turn, the generation may go
	generation = h.Generation
	return j.start(wire.VerifyJob, name, fmt.Sprint("verify ", name, " ", generation),
		func(ctx context.Context, t *job) (made, error) {
			h, err := j.hold(name, generation)
			if err != nil {
				return made{}, err
			}
			defer h.Release()
			return j.verifyHeld(ctx, t, h)
		})
}

// hold opens a generation to be verified. That one cannot even be opened is found out here, before
// there is a job.
func (j *Jobs) hold(name string, generation int64) (*store.Handle, error) {
	h, err := j.store.Acquire(name, generation)
	if errors.Is(err, layout.ErrTorn) || errors.Is(err, layout.ErrChecksum) {
		return nil, corrupt(name, err.Error())
	}
	return h, err
}

func (j *Jobs) verifyHeld(ctx context.Context, t *job, h *store.Handle) (made, error) {
	p := ingest.Progress{Phase: phaseVerify, RowsTotal: h.Data.Manifest.Rows,
		BytesTotal: h.Data.Bytes()}
	var read atomic.Int64
	j.note(t, p)
	err := h.Data.Check(ctx, j.snapshot(t).Cores, func(n int64) {
		p := p
		p.Bytes = read.Add(n)
		p.Share = float64(p.Bytes) / float64(max(1, p.BytesTotal))
		j.note(t, p)
	})
	if errors.Is(err, layout.ErrChecksum) {
		if again, gone := j.store.Acquire(h.Dataset, h.Generation); gone != nil {
			err = gone // it was removed meanwhile, and its files with it
		} else {
			again.Release()
			err = corrupt(h.Dataset, h.Dataset+": "+err.Error())
		}
	}
	return made{generation: h.Generation, manifest: h.Data.Manifest}, err
}

// corrupt is the problem of a dataset whose files are not what was written.
func corrupt(name, detail string) *wire.Problem {
	p := wire.NewProblem(wire.Corrupt, "")
	p.Detail = detail // all of it: it names all that differs
	return p.WithField("dataset").WithHint(
		"tensorcache rm %s, then load it again from its sources", name)
}
