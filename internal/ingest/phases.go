package ingest

import (
	"strings"

	"github.com/tensorcache/tensorcache/layout"
)

// What the phases of a load cost, in nanoseconds of two cores, as measured on 200 to 400 MB of decimals: only their proportions count.
const (
	costHash      = 0.25 // of a byte of the sources
	costCount     = 0.25 // of a byte of text: its lines are counted
	costUnpack    = 9.0  // of a compressed byte of text
	costReceive   = 0.7  // of a byte of a stream that comes over a connection
	costText      = 1.3  // of a byte of text
	costBinary    = 5.0  // of a value of any other source
	costSort      = 150  // of a row that is not where it belongs
	costScatter   = 20   // of a value of such a row
	costMove      = 8    // of a value of a row that only gets another number
	costLook      = 8    // of a row with an item or a time: whether it is in order is looked at once
	costStep      = 2.0  // of a value that has any step
	costLog       = 12   // of a value whose logarithm is taken
	costQuartiles = 10   // of a value: they are exact
	costFinish    = 0.7  // of a value
	costCopy      = 0.2  // of a byte
	textShrink    = 3    // bytes of text to one that is compressed
	textValue     = 16   // bytes of text to a value
	binaryValue   = 8    // of any other source
	rowValues     = 4    // values to a row
)

// plan is which phases there will be, and what each is expected to cost: by the bytes of the sources until their rows and columns are known.
func (l *load) plan() []phaseCost {
	var hash, count, text, values float64
	for _, s := range l.sources {
		b := float64(s.Bytes)
		hash += b * costHash
		if compressed(s.Path) {
			count += b * costUnpack
			b *= textShrink
		}
		if f := formatOf(s.Path); f != "" && f != "CSV" && f != "TSV" {
			values += b / binaryValue
			continue
		}
		count += b * costCount
		text += b
		values += b / textValue
	}
	rows, scaled := values/rowValues, values*stepCost(l.anySteps())
	if l.columns != nil {
		rows, values, scaled = float64(l.meter.rowsTotal.Load()), 0, 0
		for i, c := range l.columns {
			n := rows * float64(max(1, c.width))
			values += n
			scaled += n * stepCost(l.steps(c, l.wanted.roles[i]))
		}
	}
	read := text * costText
	if text == 0 {
		read = values * costBinary
	}
	var plan []phaseCost
	if l.HashSources {
		plan = append(plan, phaseCost{PhaseHash, hash})
	}
	if len(l.sources) == 0 { // a stream that has come over a connection
		count = float64(l.received) * costReceive
	}
	plan = append(plan, phaseCost{phaseCount, count}, phaseCost{phaseRead, read})
	if l.filters() {
		plan = append(plan, phaseCost{phaseFilter, values * costMove})
	}
	plan = append(plan, phaseCost{phaseArrange, l.arrangeCost(rows, values)})
	if scaled > 0 {
		plan = append(plan, phaseCost{phaseScale, scaled})
	}
	if l.base != nil {
		old := float64(l.base.data.Manifest.Files[layout.DataFile].Bytes)
		plan = append(plan, phaseCost{phaseCopy, old * costCopy})
		values += old / binaryValue
	}
	return append(plan, phaseCost{phaseFinish, values * costFinish})
}

// arrangeCost is what it costs to bring rows into their order.
func (l *load) arrangeCost(rows, values float64) (cost float64) {
	if len(l.ItemID) > 0 || l.Time != "" {
		cost = rows * costLook
	}
	switch {
	case l.Sort:
		cost += rows*costSort + values*costScatter
	case l.Duplicates != "" || len(l.Regrid) > 0:
		cost += values * costMove
	}
	return cost
}

// anySteps are those that any column may have.
func (l *load) anySteps() steps {
	s := steps{diff: l.prepares(), log1p: !l.Log1p.IsZero()}
	_ = l.Scale.each(func(_, how string) error {
		if how == scaleRobust {
			s.scale = how
		}
		return nil
	})
	return s
}

// stepCost is what the steps of a value cost.
func stepCost(s steps) (cost float64) {
	if s == (steps{}) {
		return 0
	}
	cost = costStep
	if s.log1p {
		cost += costLog
	}
	if s.scale == scaleRobust {
		cost += costQuartiles
	}
	return cost
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
