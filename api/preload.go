package api

import (
	"context"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// phasePreload is that of a job that brings a dataset into memory.
const phasePreload = "preload"

func (s *Server) preload(ctx *fasthttp.RequestCtx, name string) error {
	job, err := s.Jobs.Preload(name)
	if err != nil {
		return err
	}
	return reply(ctx, 202, job)
}

// Preload starts to bring a dataset into memory, or joins who does. The job fails with a problem of
// type memory where it does not fit into the budget.
func (j *Jobs) Preload(name string) (wire.Job, error) {
	if _, err := j.store.Dataset(name); err != nil {
		return wire.Job{}, err
	}
	return j.start(wire.PreloadJob, name, "preload "+name, j.preload)
}

func (j *Jobs) preload(ctx context.Context, t *job) (made, error) {
	i, err := j.store.Preload(ctx, t.state.Dataset, func(done, total int64) {
		j.note(t, ingest.Progress{Phase: phasePreload, Bytes: done, BytesTotal: total,
			Share: float64(done) / float64(max(1, total))})
	})
	return made{generation: i.Generation, manifest: i.Manifest}, err
}
