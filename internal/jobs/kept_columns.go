package jobs

import (
	"errors"

	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
)

// keptGenerations acquires the generations whose columns a put sends, and returns their directories by
// digest, without those of generations that were removed. release, which is never nil, ends their
// use.
func (m *Manager) keptGenerations(columns []ingest.PutColumn) (
	dirs map[string]string, release func(), err error) {
	var handles []*store.Handle
	release = func() {
		for _, h := range handles {
			h.Release()
		}
	}
	dirs = map[string]string{}
	for _, c := range columns {
		of := c.StepsOf
		if of == nil || of.Changed || dirs[of.Digest] != "" {
			continue
		}
		h, err := m.store.Acquire(of.Dataset, of.Generation)
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrGone) {
			continue
		}
		if err != nil {
			return nil, release, err
		}
		handles = append(handles, h)
		if h.Data.Manifest.Digest == of.Digest {
			dirs[of.Digest] = h.Data.Dir
		}
	}
	return dirs, release, nil
}

// refuseSteps refuses to append values that have steps: the dataset would apply its own to them. The
// error is an [ingest.SourceError].
func refuseSteps(r wire.PutRequest, columns []ingest.PutColumn) error {
	for _, c := range columns {
		if of := c.StepsOf; r.Append && of != nil {
			return &ingest.SourceError{Column: c.Name,
				Reason: of.Description() + ", whose steps rows that are appended cannot have",
				Hint:   "append the values before the steps, which inverse returns"}
		}
	}
	return nil
}
