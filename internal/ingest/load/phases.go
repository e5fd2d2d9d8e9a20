package load

import (
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/files"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/layout"
)

// phases returns the phases of the load, in their order. The weights are typical
// proportions of time; reading is 10.
func (l *load) phases() []progress.Phase {
	var phases []progress.Phase
	if l.HashSources {
		phases = append(phases, progress.Phase{Name: progress.Hash, Weight: 2})
	}
	count, arrange := 2.0, 1.0
	isCompressed := func(s layout.Source) bool { return files.Compressed(s.Path) }
	if l.meter.Bytes.Load() > 0 || slices.ContainsFunc(l.sources, isCompressed) {
		count = 10 // the load receives or decompresses the data in this phase
	}
	switch {
	case l.Sort:
		arrange = 20
	case l.Duplicates != "" || len(l.Regrid) > 0:
		arrange = 10
	}
	phases = append(phases,
		progress.Phase{Name: progress.Count, Weight: count},
		progress.Phase{Name: progress.Read, Weight: 10})
	if l.Filters() {
		phases = append(phases, progress.Phase{Name: progress.Filter, Weight: 5})
	}
	phases = append(phases, progress.Phase{Name: progress.Arrange, Weight: arrange})
	if l.HasSteps() {
		phases = append(phases, progress.Phase{Name: progress.Scale, Weight: 5})
	}
	if l.base != nil {
		phases = append(phases, progress.Phase{Name: progress.Copy, Weight: 5})
	}
	return append(phases, progress.Phase{Name: progress.Finish, Weight: 1})
}
