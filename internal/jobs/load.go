package jobs

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

// Load starts a job that loads files. It joins a job that loads the same, and returns a hit if the
// newest generation was made from the same, unchanged sources in the same way.
func (m *Manager) Load(dataset string, o ingest.Options) (wire.Job, error) {
	if err := layout.CheckName(dataset); err != nil {
		return wire.Job{}, err
	}
	if err := o.Validate(); err != nil {
		return wire.Job{}, err
	}
	if err := checkSources(o.Sources); err != nil {
		return wire.Job{}, err
	}
	sources, err := recordedSources(o.AllowedRoots, o.Sources, o.Origins)
	if err != nil {
		return wire.Job{}, err
	}
	recipe, err := o.Recipe()
	if err != nil {
		return wire.Job{}, err
	}
	hit, same := m.findHit(dataset, o, sources)
	if same && !o.HashSources {
		return hit, nil
	}
	key := fmt.Sprint(dataset, string(recipe), sources, o.HashSources)
	if len(o.Origins) > 0 {
		key = "" // each client removes the files that it has staged
	}
	return m.start(wire.LoadJob, dataset, key, func(ctx context.Context, job *Job) (result, error) {
		r, same, err := m.compareContent(ctx, job, hit, o.AllowedRoots, sources)
		if same || err != nil {
			return r, err
		}
		return m.runLoad(ctx, job, ingest.Job{Options: o}, nil, 0)
	})
}

// checkSources refuses relative paths: the daemon and the client may have different working
// directories.
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

// findHit returns a hit if the newest generation is what a load would make, and can be opened. With
// HashSources, the hit depends on the content of the sources too: see compareContent.
func (m *Manager) findHit(dataset string, o ingest.Options,
	sources []layout.Source) (wire.Job, bool) {
	i, err := m.store.Dataset(dataset)
	same := layout.Source.SameFile
	if o.HashSources {
		same = func(a, b layout.Source) bool {
			return a.Path == b.Path && a.Bytes == b.Bytes && a.XXH64 != ""
		}
	}
	if err != nil || len(i.Manifest.Appended) > 0 || !hasRecipe(i.Manifest, o) ||
		!slices.EqualFunc(i.Manifest.Sources, sources, same) {
		return wire.Job{}, false
	}
	if !o.StepsFit(i.Manifest.Columns) { // the load will return the better error
		return wire.Job{}, false
	}
	if !o.CalendarFits(i.Manifest.Columns) {
		return wire.Job{}, false
	}
	h, err := m.store.Acquire(dataset, i.Generation)
	if err != nil {
		return wire.Job{}, false
	}
	h.Release()
	return hitJob(wire.LoadJob, dataset, i.Generation, i.Manifest), true
}

// hasRecipe reports whether the recipe of a manifest is that of the options. It compares times as
// instants in the zone of the manifest's time column: a load knows the zone only when it has read.
func hasRecipe(manifest *layout.Manifest, o ingest.Options) bool {
	var unit, zone string
	if c, err := manifest.Column(manifest.Time); err == nil {
		unit, zone = c.Unit, c.Zone
	}
	o, err := o.WithInstants(unit, zone)
	if err != nil { // the load will return the error
		return false
	}
	recipe, err := o.Recipe()
	return err == nil && sameJSON(manifest.Recipe, recipe)
}

// hitJob returns the state of a job that has nothing to do.
func hitJob(kind, dataset string, generation int64, manifest *layout.Manifest) wire.Job {
	return wire.Job{Job: "hit", Kind: kind, State: wire.JobDone, Dataset: dataset,
		Generation: generation, Digest: manifest.Digest, Rows: manifest.Rows,
		RowsTotal: manifest.Rows, Progress: 1, Hit: true, Notes: manifest.Notes}
}

// compareContent reads the sources and reports whether the possible hit is one.
func (m *Manager) compareContent(ctx context.Context, job *Job, hit wire.Job,
	roots ingest.AllowedRoots, sources []layout.Source) (result, bool, error) {
	if !hit.Hit {
		return result{}, false, nil
	}
	h, err := m.store.Acquire(job.state.Dataset, hit.Generation)
	if err != nil { // it was removed meanwhile
		return result{}, false, nil
	}
	defer h.Release()
	hashed, err := hashSources(ctx, job, roots, sources)
	if err != nil {
		return result{}, false, err
	}
	manifest := h.Data.Manifest
	return result{generation: hit.Generation, manifest: manifest, hit: true},
		slices.EqualFunc(manifest.Sources, hashed, layout.Source.SameContent), nil
}

// hashSources reads the sources and returns them with their hashes.
func hashSources(ctx context.Context, job *Job, roots ingest.AllowedRoots,
	sources []layout.Source) ([]layout.Source, error) {
	p := ingest.Progress{Phase: ingest.PhaseHash}
	for _, s := range sources {
		p.BytesTotal += s.Bytes
	}
	var read atomic.Int64
	return roots.HashSources(ctx, sources, job.State().Cores, func(n int64) {
		p := p
		p.Bytes = read.Add(n)
		job.setProgress(p)
	})
}

// sameJSON reports whether two texts have the same values; a manifest is indented.
func sameJSON(a, b json.RawMessage) bool {
	x, err := canonicalJSON(a)
	y, err2 := canonicalJSON(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

// canonicalJSON sorts the fields of objects. Numbers keep their digits.
func canonicalJSON(text json.RawMessage) ([]byte, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// runLoad loads in a child process into a new directory and publishes it. If base is not 0, it must
// still be the newest generation then; else the error wraps [store.ErrSuperseded]. A put that equals
// the newest generation is a hit, and nothing is published.
func (m *Manager) runLoad(ctx context.Context, job *Job, in ingest.Job, conn *os.File,
	base int64) (result, error) {
	dataset := job.state.Dataset
	l, err := m.store.Begin(dataset)
	if err != nil {
		return result{}, err
	}
	defer func() {
		if err := l.Abort(); err != nil {
			m.log.Error("remove an unfinished load", "dir", l.Dir, "error", err)
		}
	}()
	release := func() {} // what the load has reserved of the memory budget
	defer func() { release() }()
	in.Dir, in.Cores = l.Dir, job.cores
	in.OnSpaceNeeded = func(bytes int64) (err error) {
		release() // bytes is the whole need, and replaces an earlier reservation
		if release, err = m.store.Budget.ReserveLoad(dataset, bytes); err != nil {
			release = func() {}
		}
		return err
	}
	manifest, err := m.children.Run(ctx, in, conn, job.setProgress)
	if err != nil {
		return result{}, m.supersededError(err, dataset, base)
	}
	if in.Put != nil {
		if newest, ok := m.newestEquals(dataset, manifest); ok && (base == 0 || newest == base) {
			return result{generation: newest, manifest: manifest, hit: true}, nil
		}
	}
	generation, err := l.PublishAfter(base)
	return result{generation: generation, manifest: manifest}, err
}

// newestEquals returns the number of a dataset's newest generation, and whether that was put too, can be
// opened, and has the digest and the notes of a put.
func (m *Manager) newestEquals(dataset string, put *layout.Manifest) (generation int64, ok bool) {
	h, err := m.store.Acquire(dataset, 0)
	if err != nil {
		return 0, false
	}
	defer h.Release()
	newest := h.Data.Manifest
	return h.Generation, len(newest.Sources) == 0 && newest.Digest == put.Digest &&
		slices.Equal(newest.Notes, put.Notes)
}

// supersededError returns the error of a load that reads a generation. If that was removed
// meanwhile, its files could not be read, and the error wraps [store.ErrSuperseded].
func (m *Manager) supersededError(err error, dataset string, base int64) error {
	if base == 0 || ProblemOf(err).Type != wire.Internal {
		return err
	}
	if info, gone := m.store.Dataset(dataset); gone == nil && info.Generation == base {
		return err
	}
	return fmt.Errorf("%w: generation %d of %q", store.ErrSuperseded, base, dataset)
}
