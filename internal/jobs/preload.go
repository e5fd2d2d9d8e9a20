package jobs

import (
	"context"

	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// phasePreload is the only phase of a preload.
const phasePreload = "preload"

// Preload starts a job that reads a dataset into memory, or joins one. The job fails with a problem
// of type memory if the dataset does not fit into the budget.
func (m *Manager) Preload(dataset string) (wire.Job, error) {
	if _, err := m.store.Dataset(dataset); err != nil {
		return wire.Job{}, err
	}
	return m.start(wire.PreloadJob, dataset, "preload "+dataset, m.preload)
}

func (m *Manager) preload(ctx context.Context, job *Job) (result, error) {
	i, err := m.store.Preload(ctx, job.state.Dataset, func(done, total int64) {
		job.setProgress(ingest.Progress{Phase: phasePreload, Bytes: done, BytesTotal: total,
			Share: float64(done) / float64(max(1, total))})
	})
	return result{generation: i.Generation, manifest: i.Manifest}, err
}
