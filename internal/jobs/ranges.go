package jobs

import (
	"context"
	"errors"

	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/origin"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
)

// recordedSources returns the sources as the manifest has them: remote files in place of staged
// ones.
func recordedSources(roots ingest.AllowedRoots, paths []string,
	origins origin.Files) ([]layout.Source, error) {
	names := origin.NamesOf(origins, paths)
	sources, err := roots.Stat(paths)
	if err != nil {
		return nil, names.Error(err)
	}
	staged := ingest.NewStaged(origins)
	if err := staged.Check(sources); err != nil {
		return nil, err
	}
	return staged.Sources(sources), nil
}

// Ranges returns a hit if a load, or an append, of remote files would be one. Otherwise it returns
// which bytes of them it reads and that the client has not staged yet. It waits while as many such
// requests run as there are cores.
func (m *Manager) Ranges(dataset string, o ingest.Options, isAppend bool) (wire.MissingRanges,
	error) {
	if err := m.store.RemoveAbandoned(); err != nil {
		m.log.Error("remove abandoned staging directories", "error", err)
	}
	out := wire.MissingRanges{Missing: []origin.Missing{}}
	if err := layout.CheckName(dataset); err != nil {
		return out, err
	}
	if err := o.Validate(); err != nil {
		return out, err
	}
	if err := checkSources(o.Sources); err != nil {
		return out, err
	}
	if len(o.Origins) == 0 {
		return out, &ingest.OptionError{Field: "origins",
			Allowed: "at least one, for the files that are staged"}
	}
	sources, err := recordedSources(o.AllowedRoots, o.Sources, o.Origins)
	if err != nil {
		return out, err
	}
	job := ingest.Job{Options: o}
	if isAppend {
		if err := checkNoOptions(o); err != nil {
			return out, err
		}
		base, err := m.store.Acquire(dataset, 0)
		if err != nil {
			return out, err
		}
		defer base.Release()
		if job, err = rangesOfAppend(base, o, sources); err != nil {
			return out, err
		}
		if len(job.Append.Skip) == len(sources) {
			out.Hit, out.Generation = true, base.Generation
			return out, nil
		}
	} else {
		if hit, same := m.findHit(dataset, o, sources); same {
			out.Hit, out.Generation = true, hit.Generation
			return out, nil
		}
	}
	missing, err := m.findRanges(job)
	if missing != nil {
		out.Missing = missing
	}
	return out, err
}

// rangesOfAppend returns the job that appends to a generation.
func rangesOfAppend(base *store.Handle, o ingest.Options,
	sources []layout.Source) (ingest.Job, error) {
	manifest := base.Data.Manifest
	skip, err := loadedSources(manifest.Sources, sources)
	if err != nil {
		return ingest.Job{}, err
	}
	a, err := ingest.AppendOptions(manifest, o.Sources)
	if err != nil {
		return ingest.Job{}, err
	}
	a.AllowedRoots, a.Origins = o.AllowedRoots, o.Origins
	return ingest.Job{Options: a, Append: &ingest.Append{Dir: base.Data.Dir, Skip: skip}}, nil
}

// checkNoOptions refuses load options of an append, which takes those of the dataset.
func checkNoOptions(o ingest.Options) error {
	given, err := o.Recipe()
	if err != nil {
		return err
	}
	none, err := ingest.Options{Sources: o.Sources, AllowedRoots: o.AllowedRoots}.Recipe()
	if err == nil && !sameJSON(given, none) {
		err = &ingest.OptionError{Field: "of",
			Allowed: "sources and origins only for an append, and no load options",
			Hint:    "an append has the options of the dataset"}
	}
	return err
}

// findRanges runs the job in a child process as soon as one may start.
func (m *Manager) findRanges(job ingest.Job) ([]origin.Missing, error) {
	if !m.begin() {
		return nil, store.ErrClosed
	}
	defer m.running.Done()
	select {
	case m.ranges <- struct{}{}:
		defer func() { <-m.ranges }()
	case <-m.ctx.Done():
		return nil, store.ErrClosed
	}
	missing, err := m.children.Ranges(m.ctx, job)
	if errors.Is(err, context.Canceled) {
		err = store.ErrClosed
	}
	return missing, err
}
