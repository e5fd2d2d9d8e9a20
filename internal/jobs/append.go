package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
)

// Append starts a job that loads rows and appends them to those of a dataset, as its next
// generation. It skips sources that the dataset has already, and returns a hit if it has all of
// them. The sources must lie below the roots.
func (m *Manager) Append(dataset string, a wire.Append,
	roots ingest.AllowedRoots) (wire.Job, error) {
	if err := layout.CheckName(dataset); err != nil {
		return wire.Job{}, err
	}
	if err := checkSources(a.Sources); err != nil {
		return wire.Job{}, err
	}
	if err := (ingest.Options{Origins: a.Origins, HashSources: a.HashSources}).Validate(); err != nil {
		return wire.Job{}, err
	}
	sources, err := recordedSources(roots, a.Sources, a.Origins)
	if err != nil {
		return wire.Job{}, err
	}
	i, err := m.store.Dataset(dataset)
	if err != nil {
		return wire.Job{}, err
	}
	if !a.HashSources {
		if skip, err := loadedSources(i.Manifest.Sources, sources); err != nil {
			return wire.Job{}, err
		} else if len(skip) == len(sources) {
			return hitJob(wire.AppendJob, dataset, i.Generation, i.Manifest), nil
		}
	}
	key := fmt.Sprint("append ", dataset, sources, a.HashSources)
	if len(a.Origins) > 0 {
		key = "" // each client removes the files that it has staged
	}
	return m.start(wire.AppendJob, dataset, key,
		func(ctx context.Context, job *Job) (result, error) {
			for {
				r, err := m.appendOnce(ctx, job, a, roots, sources)
				if !errors.Is(err, store.ErrSuperseded) {
					return r, err
				}
			}
		})
}

// appendOnce appends to the newest generation. The error wraps store.ErrSuperseded if there is a
// newer one in the end.
func (m *Manager) appendOnce(ctx context.Context, job *Job, a wire.Append,
	roots ingest.AllowedRoots, sources []layout.Source) (result, error) {
	base, err := m.store.Acquire(job.state.Dataset, 0)
	if err != nil {
		return result{}, err
	}
	defer base.Release()
	manifest := base.Data.Manifest
	if a.HashSources {
		if sources, err = hashSources(ctx, job, roots, sources); err != nil {
			return result{}, err
		}
	}
	skip, err := loadedSources(manifest.Sources, sources)
	if err != nil {
		return result{}, err
	}
	if len(skip) == len(sources) {
		return result{generation: base.Generation, manifest: manifest, hit: true}, nil
	}
	o, err := ingest.AppendOptions(manifest, a.Sources)
	if err != nil {
		return result{}, err
	}
	o.HashSources, o.AllowedRoots, o.Origins = a.HashSources, roots, a.Origins
	return m.runLoad(ctx, job,
		ingest.Job{Options: o, Append: &ingest.Append{Dir: base.Data.Dir, Skip: skip}}, nil,
		base.Generation)
}

// loadedSources returns the paths of the sources that a generation was made from. It refuses a file
// that has changed since, because nothing says which of its rows are new.
func loadedSources(loaded, sources []layout.Source) (paths []string, err error) {
	byPath := make(map[string]layout.Source, len(loaded))
	for _, l := range slices.Backward(loaded) { // the first of each path wins
		byPath[l.Path] = l
	}
	for _, s := range sources {
		l, ok := byPath[s.Path]
		switch {
		case !ok:
		case s.SameFile(l) || s.SameContent(l):
			paths = append(paths, s.Path)
		default:
			e := &ingest.SourceError{Path: s.Path,
				Reason: "was loaded before and has changed since",
				Hint:   "append a file with the new rows alone, or load all files again"}
			if o := s.Origin; o != nil && o.ETag == nil && o.Mtime == nil {
				e.Reason = "was loaded before, and its server does not tell whether it has changed"
			}
			if s.Origin == nil && s.XXH64 == "" && l.XXH64 != "" {
				e.Hint = "if it was only touched, say so with `hash_sources=true`"
			}
			return nil, e
		}
	}
	return paths, nil
}
