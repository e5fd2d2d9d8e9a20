package ingest

import (
	"strings"

	"github.com/tensorcache/tensorcache/layout"
)

// What the phases of a load cost, as measured on 70 MB of decimals as text and 190 MB as Parquet, both plain: only their
// proportions count. Those of bytes are of bytes of the sources.
const (
	costHash      = 0.1
	costCount     = 0.3 // lines of text are counted
	costUnpack    = 3.0 // of a compressed byte
	costText      = 2.0
	costBinary    = 0.15
	costStep      = 1.2 // of a value
	costQuartiles = 18  // of a value: they are exact
	costFinish    = 0.5 // of a value
	costCopy      = 0.15
	textShrink    = 4 // bytes of text to one that is compressed
	textValue     = 18
	binaryValue   = 8
)

// plan is which phases there will be, and what each is expected to cost.
func (l *load) plan() []phaseCost {
	var hash, count, read, values float64
	for _, s := range l.sources {
		b := float64(s.Bytes)
		hash += b * costHash
		if compressed(s.Path) {
			b *= textShrink
			count += b * costUnpack / textShrink
		}
		if f := formatOf(s.Path); f != "" && f != "CSV" && f != "TSV" {
			read += b * costBinary
			values += b / binaryValue
			continue
		}
		count += b * costCount
		read += b * costText
		values += b / textValue
	}
	var plan []phaseCost
	if l.HashSources {
		plan = append(plan, phaseCost{PhaseHash, hash})
	}
	plan = append(plan, phaseCost{phaseCount, count}, phaseCost{phaseRead, read})
	if l.prepares() {
		step := costStep
		_ = l.Scale.each(func(_, how string) error {
			if how == scaleRobust {
				step = costQuartiles
			}
			return nil
		})
		plan = append(plan, phaseCost{phaseScale, values * step})
	}
	if l.base != nil {
		old := float64(l.base.data.Manifest.Files[layout.DataFile].Bytes)
		plan = append(plan, phaseCost{phaseCopy, old * costCopy})
		values += old / binaryValue
	}
	return append(plan, phaseCost{phaseFinish, values * costFinish})
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
