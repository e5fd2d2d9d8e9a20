package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
)

// Load starts a load of files, or answers with one that already runs or with a hit: a generation
// that was made from the same, unchanged sources in the same way.
func (j *Jobs) Load(name string, o ingest.Options) (wire.Job, error) {
	if err := layout.CheckName(name); err != nil {
		return wire.Job{}, err
	}
	if err := o.Validate(); err != nil {
		return wire.Job{}, err
	}
	if err := checkSources(o.Sources); err != nil {
		return wire.Job{}, err
	}
	sources, err := o.AllowedRoots.Stat(o.Sources)
	if err != nil {
		return wire.Job{}, err
	}
	recipe, err := o.Recipe()
	if err != nil {
		return wire.Job{}, err
	}
	hit, same := j.hit(name, o, recipe, sources)
	if same && !o.HashSources {
		return hit, nil
	}
	key := fmt.Sprint(name, string(recipe), sources, o.HashSources)
	return j.start(wire.LoadJob, name, key, func(ctx context.Context, t *job) (made, error) {
		if m, ok, err := j.sameContent(ctx, t, hit, o.AllowedRoots, sources); ok || err != nil {
			return m, err
		}
		return j.run(ctx, t, ingest.Job{Options: o}, nil, 0)
	})
}

// checkSources refuses paths that would mean something else to the daemon than to the client.
func checkSources(paths []string) error {
	if len(paths) == 0 {
		return &ingest.OptionError{Field: "sources", Allowed: "at least one file"}
	}
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			return &ingest.OptionError{Field: "sources", Value: p, Allowed: "an absolute path"}
		}
	}
	return nil
}

// Put loads what comes over a connection, and waits for it. It closes conn. Its errors are
// *wire.Problem.
func (j *Jobs) Put(ctx context.Context, r wire.PutRequest, conn *os.File) (*wire.PutReply, error) {
	defer conn.Close()
	reply, err := j.put(ctx, r, conn)
	if err != nil {
		// the feed server, which tells the client, knows nothing of loads
		return nil, problemOf(err)
	}
	return reply, nil
}

func (j *Jobs) put(ctx context.Context, r wire.PutRequest, conn *os.File) (*wire.PutReply, error) {
	if err := layout.CheckName(r.Dataset); err != nil {
		return nil, err
	}
	in := ingest.Job{Put: &ingest.Put{Format: r.Format}}
	after := int64(0)
	if r.Append {
		base, err := j.store.Acquire(r.Dataset, 0)
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
		in.Append, after = &ingest.Append{Dir: base.Data.Dir}, base.Generation
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
	t, jobCtx, _, _, err := j.begin(wire.PutJob, r.Dataset, "")
	if err != nil {
		return nil, err
	}
	defer j.running.Done()
	stop := context.AfterFunc(ctx, t.cancel)
	defer stop()
	m, err := j.end(jobCtx, t, func() (made, error) { return j.run(jobCtx, t, in, conn, after) })
	if err != nil {
		return nil, err
	}
	return &wire.PutReply{
		Protocol: wire.Protocol, Dataset: r.Dataset, Generation: m.generation,
		Digest: m.manifest.Digest, Rows: m.manifest.Rows, DTypeError: m.manifest.DTypeErrors(),
	}, nil
}

// hit finds out whether the newest generation is what a load would make, and usable. Where hashes
// are to decide, that is not known before the sources have been read: then it tells whether it may
// be.
func (j *Jobs) hit(name string, o ingest.Options, recipe json.RawMessage,
	sources []layout.Source) (wire.Job, bool) {
	i, err := j.store.Dataset(name)
	same := layout.Source.SameFile
	if o.HashSources {
		same = func(a, b layout.Source) bool {
			return a.Path == b.Path && a.Bytes == b.Bytes &&
				a.XXH64 != ""
		}
	}
	if err != nil || len(i.Manifest.Appended) > 0 || !sameJSON(i.Manifest.Recipe, recipe) ||
		!slices.EqualFunc(i.Manifest.Sources, sources, same) {
		return wire.Job{}, false
	}
	if !o.StepsFit(i.Manifest.Columns) { // which the load says better
		return wire.Job{}, false
	}
	h, err := j.store.Acquire(name, i.Generation)
	if err != nil {
		return wire.Job{}, false
	}
	h.Release()
	return hitJob(wire.LoadJob, name, i.Generation, i.Manifest), true
}

// hitJob is the answer where nothing is to be done.
func hitJob(kind, name string, generation int64, m *layout.Manifest) wire.Job {
	return wire.Job{Job: "hit", Kind: kind, State: wire.JobDone, Dataset: name,
		Generation: generation, Digest: m.Digest, Rows: m.Rows, RowsTotal: m.Rows,
		Progress: 1, Hit: true}
}

// sameContent reads the sources of a generation that may be a hit and finds out whether it is.
func (j *Jobs) sameContent(ctx context.Context, t *job, hit wire.Job, reach ingest.AllowedRoots,
	sources []layout.Source) (made, bool, error) {
	if !hit.Hit {
		return made{}, false, nil
	}
	h, err := j.store.Acquire(t.state.Dataset, hit.Generation)
	if err != nil { // it has gone meanwhile
		return made{}, false, nil
	}
	defer h.Release()
	hashed, err := j.hash(ctx, t, reach, sources)
	if err != nil {
		return made{}, false, err
	}
	m := h.Data.Manifest
	return made{generation: hit.Generation, manifest: m, hit: true},
		slices.EqualFunc(m.Sources, hashed, layout.Source.SameContent), nil
}

// hash reads the sources for a job.
func (j *Jobs) hash(ctx context.Context, t *job, reach ingest.AllowedRoots,
	sources []layout.Source) ([]layout.Source, error) {
	p := ingest.Progress{Phase: ingest.PhaseHash}
	for _, s := range sources {
		p.BytesTotal += s.Bytes
	}
	var read atomic.Int64
	return reach.HashSources(ctx, sources, j.snapshot(t).Cores, func(n int64) {
		p := p
		p.Bytes = read.Add(n)
		j.note(t, p)
	})
}

// sameJSON compares values; a manifest is written with indentation.
func sameJSON(a, b json.RawMessage) bool {
	x, err := canonical(a)
	y, err2 := canonical(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

// canonical sorts the fields of JSON; numbers keep their digits.
func canonical(text json.RawMessage) ([]byte, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// run loads into a directory of its own and publishes it: after a generation, where that is not 0,
// which must still be the newest then.
func (j *Jobs) run(ctx context.Context, t *job, in ingest.Job, conn *os.File,
	after int64) (made, error) {
	l, err := j.store.Begin(t.state.Dataset)
	if err != nil {
		return made{}, err
	}
	defer func() {
		if err := l.Abort(); err != nil {
			j.log.Error("remove an unfinished load", "dir", l.Dir, "error", err)
		}
	}()
	room := func() {}
	defer func() { room() }()
	in.Dir, in.Cores = l.Dir, t.cores
	in.Room = func(bytes int64) (err error) {
		room() // what was reserved before is part of it
		if room, err = j.store.Budget.ReserveLoad(t.state.Dataset, bytes); err != nil {
			room = func() {}
		}
		return err
	}
	m, err := j.runs.Run(ctx, in, conn, func(p ingest.Progress) { j.note(t, p) })
	if err != nil {
		return made{}, j.orSuperseded(err, t.state.Dataset, after)
	}
	number, err := l.PublishAfter(after)
	return made{generation: number, manifest: m}, err
}

// orSuperseded is the error of a load that stands on a generation: where that went away meanwhile,
// and its files with it, nothing else is the reason that they could not be read.
func (j *Jobs) orSuperseded(err error, name string, after int64) error {
	if after == 0 || problemOf(err).Type != wire.Internal {
		return err
	}
	if i, gone := j.store.Dataset(name); gone == nil && i.Generation == after {
		return err
	}
	return fmt.Errorf("%w: generation %d of %q", store.ErrSuperseded, after, name)
}

// note takes a load's progress.
func (j *Jobs) note(t *job, p ingest.Progress) {
	j.mu.Lock()
	defer j.mu.Unlock()
	t.state.Phase, t.state.Rows, t.state.RowsTotal, t.state.Bytes, t.state.BytesTotal = p.Phase,
		p.Rows, p.RowsTotal, p.Bytes, p.BytesTotal
	t.estimate.note(p.Share)
	j.touch()
}
