package ingest

import (
	"strings"

	"github.com/tensorcache/tensorcache/layout"
)

// What the phases of a load cost in nanoseconds a byte of the sources on one core, as measured on the files of bench: only
// their proportions count.
const (
	costHash   = 0.2
	costCount  = 0.3 // lines of text are counted
	costUnpack = 3.0 // of a compressed byte
	costRead   = 2.0
	costScale  = 0.5
	costFinish = 0.2
	costCopy   = 0.5 // of a byte of the old generation
	textShrink = 4   // bytes of text to one that is compressed
)

// plan is which phases there will be, and what each is expected to cost.
func (l *load) plan() []phaseCost {
	var hash, count, read float64
	for _, s := range l.sources {
		b := float64(s.Bytes)
		hash += b * costHash
		if compressed(s.Path) {
			count += b * (costUnpack + textShrink*costCount)
			read += b * textShrink * costRead
			continue
		}
		if f := formatOf(s.Path); f == "" || f == "CSV" || f == "TSV" {
			count += b * costCount
		}
		read += b * costRead
	}
	var plan []phaseCost
	if l.HashSources {
		plan = append(plan, phaseCost{PhaseHash, hash})
	}
	plan = append(plan, phaseCost{phaseCount, count}, phaseCost{phaseRead, read})
	if l.prepares() {
		plan = append(plan, phaseCost{phaseScale, read * costScale / costRead})
	}
	finish := read * costFinish / costRead
	if l.base != nil {
		old := float64(l.base.data.Manifest.Files[layout.DataFile].Bytes)
		plan = append(plan, phaseCost{phaseCopy, old * costCopy})
		finish = old * costFinish
	}
	return append(plan, phaseCost{phaseFinish, finish})
}

// compressed tells by its name whether a file is compressed text.
func compressed(path string) bool {
	for _, c := range codecs {
		if strings.HasSuffix(strings.ToLower(path), c.suffix) {
			return true
		}
	}
	return false
}
