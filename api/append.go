package api

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

// Append starts a load that puts rows behind those of a dataset, as its next generation. Sources
// that it has already are passed over; where it has them all, that is a hit. They must be in reach.
func (j *Jobs) Append(name string, a wire.Append, reach ingest.AllowedRoots) (wire.Job, error) {
	if err := layout.CheckName(name); err != nil {
		return wire.Job{}, err
	}
	if err := checkSources(a.Sources); err != nil {
		return wire.Job{}, err
	}
	sources, err := reach.Stat(a.Sources)
	if err != nil {
		return wire.Job{}, err
	}
	i, err := j.store.Dataset(name)
	if err != nil {
		return wire.Job{}, err
	}
	if !a.HashSources {
		if skip, err := present(i.Manifest.Sources, sources); err != nil {
			return wire.Job{}, err
		} else if len(skip) == len(sources) {
			return hitJob(wire.AppendJob, name, i.Generation, i.Manifest), nil
		}
	}
	return j.start(wire.AppendJob, name, fmt.Sprint("append ", name, sources, a.HashSources),
		func(ctx context.Context, t *job) (made, error) {
			for {
				m, err := j.appendOnce(ctx, t, a, reach, sources)
				if !errors.Is(err, store.ErrSuperseded) {
					return m, err
				}
			}
		})
}

// appendOnce appends to the newest generation. The error wraps store.ErrSuperseded where there is
// another by the end.
func (j *Jobs) appendOnce(ctx context.Context, t *job, a wire.Append, reach ingest.AllowedRoots,
	sources []layout.Source) (made, error) {
	base, err := j.store.Acquire(t.state.Dataset, 0)
	if err != nil {
		return made{}, err
	}
	defer base.Release()
	m := base.Data.Manifest
	if a.HashSources {
		if sources, err = j.hash(ctx, t, reach, sources); err != nil {
			return made{}, err
		}
	}
	skip, err := present(m.Sources, sources)
	if err != nil {
		return made{}, err
	}
	if len(skip) == len(sources) {
		return made{generation: base.Generation, manifest: m, hit: true}, nil
	}
	o, err := ingest.AppendOptions(m, a.Sources)
	if err != nil {
		return made{}, err
	}
	o.HashSources, o.AllowedRoots = a.HashSources, reach
	return j.run(ctx, t,
		ingest.Job{Options: o, Append: &ingest.Append{Dir: base.Data.Dir, Skip: skip}}, nil,
		base.Generation)
}

// present are the paths of those sources that a generation has. One that it had in another state is
// refused: which of its rows are new, nobody knows.
func present(have, sources []layout.Source) (paths []string, err error) {
	first := make(map[string]layout.Source, len(have)) // of its path
	for _, h := range slices.Backward(have) {
		first[h.Path] = h
	}
	for _, s := range sources {
		h, ok := first[s.Path]
		switch {
		case !ok:
		case s.SameFile(h) || s.SameContent(h):
			paths = append(paths, s.Path)
		default:
			e := &ingest.SourceError{Path: s.Path,
				Reason: "was loaded before and has changed since",
				Hint:   "append a file with the new rows alone, or load all files again"}
			if s.XXH64 == "" && h.XXH64 != "" {
				e.Hint = "if it was only touched, say so with --hash-sources"
			}
			return nil, e
		}
	}
	return paths, nil
}
