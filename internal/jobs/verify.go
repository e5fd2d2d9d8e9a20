package jobs

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
)

// phaseVerify is the only phase of a verification.
const phaseVerify = "verify"

// Verify starts a job that compares a generation with its checksums, or joins one. Generation 0 is
// the newest. The job fails with a problem of type corrupt if they differ.
func (m *Manager) Verify(dataset string, generation int64) (wire.Job, error) {
	h, err := m.acquire(dataset, generation)
	if err != nil {
		return wire.Job{}, err
	}
	h.Release() // the generation may be removed while the job is queued
	generation = h.Generation
	return m.start(wire.VerifyJob, dataset, fmt.Sprint("verify ", dataset, " ", generation),
		func(ctx context.Context, job *Job) (result, error) {
			h, err := m.acquire(dataset, generation)
			if err != nil {
				return result{}, err
			}
			defer h.Release()
			return m.verifyHandle(ctx, job, h)
		})
}

// acquire opens a generation to be verified. It returns a corrupt problem if that fails because of
// its files.
func (m *Manager) acquire(dataset string, generation int64) (*store.Handle, error) {
	h, err := m.store.Acquire(dataset, generation)
	if errors.Is(err, layout.ErrTorn) || errors.Is(err, layout.ErrChecksum) {
		return nil, m.corrupt(dataset, err.Error())
	}
	return h, err
}

func (m *Manager) verifyHandle(ctx context.Context, job *Job, h *store.Handle) (result, error) {
	p := ingest.Progress{Phase: phaseVerify, RowsTotal: h.Data.Manifest.Rows,
		BytesTotal: h.Data.Bytes()}
	var read atomic.Int64
	job.setProgress(p)
	err := h.Data.Check(ctx, job.State().Cores, func(n int64) {
		p := p
		p.Bytes = read.Add(n)
		p.Share = float64(p.Bytes) / float64(max(1, p.BytesTotal))
		job.setProgress(p)
	})
	if errors.Is(err, layout.ErrChecksum) {
		if again, gone := m.store.Acquire(h.Dataset, h.Generation); gone != nil {
			err = gone // the generation was removed meanwhile, and its files with it
		} else {
			again.Release()
			err = m.corrupt(h.Dataset, h.Dataset+": "+err.Error())
		}
	}
	return result{generation: h.Generation, manifest: h.Data.Manifest}, err
}

// corrupt returns the problem of a dataset whose files are damaged.
func (m *Manager) corrupt(dataset, detail string) *wire.Problem {
	p := wire.NewProblem(wire.Corrupt, "")
	p.Detail = detail // not shortened: it names everything that differs
	hint := "tensorcache rm " + dataset + ", then load it again from its sources"
	if i, err := m.store.Dataset(dataset); err == nil && i.Manifest.ScaledOf != nil {
		hint = fmt.Sprintf("tensorcache rm %s, then scale dataset %q again", dataset, i.Manifest.ScaledOf.Dataset)
	}
	return p.WithField("dataset").WithHint("%s", hint)
}
