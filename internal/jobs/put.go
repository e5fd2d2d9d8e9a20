package jobs

import (
	"context"
	"encoding/json"
	"os"

	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// Put loads the columns that come over a connection as a job, and waits until it has ended. It
// closes conn. Its errors are *wire.Problem.
func (m *Manager) Put(ctx context.Context, r wire.PutRequest,
	conn *os.File) (*wire.PutReply, error) {
	defer conn.Close()
	reply, err := m.put(ctx, r, conn)
	if err != nil {
		// the feed server, which answers the client, does not know the errors of loads
		return nil, ProblemOf(err)
	}
	return reply, nil
}

func (m *Manager) put(ctx context.Context, r wire.PutRequest,
	conn *os.File) (*wire.PutReply, error) {
	if err := layout.CheckName(r.Dataset); err != nil {
		return nil, err
	}
	in := ingest.Job{Put: &ingest.Put{Format: r.Format}}
	baseGeneration := int64(0)
	if r.Append {
		base, err := m.store.Acquire(r.Dataset, 0)
		if err != nil {
			return nil, err
		}
		defer base.Release()
		if len(r.Options) > 0 && string(r.Options) != "null" {
			return nil, wire.NewProblem(wire.InvalidRequest,
				"options: rows are appended with the options of the dataset, want none").WithField(
				"options")
		}
		if in.Options, err = ingest.AppendOptions(base.Data.Manifest, nil); err != nil {
			return nil, err
		}
		in.Append, baseGeneration = &ingest.Append{Dir: base.Data.Dir}, base.Generation
	}
	for field, raw := range map[string]struct {
		json json.RawMessage
		into any
	}{"options": {r.Options, &in.Options}, "columns": {r.Columns, &in.Put.Columns}} {
		if len(raw.json) == 0 {
			continue
		}
		if err := wire.Strict(raw.json, raw.into); err != nil {
			return nil, wire.NewProblem(wire.InvalidRequest, "%s: %s", field, err).WithField(field)
		}
	}
	if err := refuseSteps(r, in.Put.Columns); err != nil {
		return nil, err
	}
	kept, release, err := m.keptGenerations(in.Put.Columns)
	defer release()
	if err != nil {
		return nil, err
	}
	in.Kept = kept
	job, jobCtx, _, err := m.add(wire.Job{Kind: wire.PutJob, Dataset: r.Dataset}, "")
	if err != nil {
		return nil, err
	}
	defer m.running.Done()
	stop := context.AfterFunc(ctx, job.cancel)
	defer stop()
	made, err := m.run(jobCtx, job, func(ctx context.Context, job *Job) (result, error) {
		return m.runLoad(ctx, job, in, conn, baseGeneration)
	})
	if err != nil {
		return nil, err
	}
	return &wire.PutReply{
		Protocol: r.Protocol(), Dataset: r.Dataset, Generation: made.generation,
		Digest: made.manifest.Digest, Rows: made.manifest.Rows,
		Hit: made.hit, DTypeError: made.manifest.DTypeErrors(), Notes: made.manifest.Notes,
	}, nil
}
