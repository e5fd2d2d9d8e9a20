package ingest

import (
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/layout"
)

// phases returns the phases that the options ask for, in their order. The weights are typical
// proportions of time; reading is 10.
func (l *load) phases() []weightedPhase {
	var phases []weightedPhase
	if l.HashSources {
		phases = append(phases, weightedPhase{PhaseHash, 2})
	}
	count, arrange := 2.0, 1.0
	if l.meter.bytes.Load() > 0 || slices.ContainsFunc(l.sources, compressed) {
		count = 10 // the load receives or decompresses the data in this phase
	}
	switch {
	case l.Sort:
		arrange = 20
	case l.Duplicates != "" || len(l.Regrid) > 0:
		arrange = 10
	}
	phases = append(phases, weightedPhase{phaseCount, count}, weightedPhase{phaseRead, 10})
	if l.filters() {
		phases = append(phases, weightedPhase{phaseFilter, 5})
	}
	phases = append(phases, weightedPhase{phaseArrange, arrange})
	if l.prepares() {
		phases = append(phases, weightedPhase{phaseScale, 5})
	}
	if l.base != nil {
		phases = append(phases, weightedPhase{phaseCopy, 5})
	}
	return append(phases, weightedPhase{phaseFinish, 1})
}

// compressed reports whether the name of a source is that of compressed text.
func compressed(s layout.Source) bool {
	for _, c := range codecs {
		if strings.HasSuffix(strings.ToLower(s.Path), c.suffix) {
			return true
		}
	}
	return false
}
