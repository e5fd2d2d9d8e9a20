package rows

import (
	"math"

	"github.com/tensorcache/tensorcache/layout"
)

// How many differences the most common one is looked for among: stretches of neighbours, evenly spread, or all where they are
// fewer.
const (
	stretches   = 64
	stretchRows = 1024
)

// TimeStep finds the most common difference of neighbouring times of an item, the least of equally common ones, and counts the
// others. It is nil if no item has two rows.
func TimeStep(k *Keys, offsets []int64) *layout.TimeStep {
	if k.Time == nil {
		return nil
	}
	rows := offsets[len(offsets)-1]
	counts := map[int64]int64{}
	every := max(1, rows/stretches)
	if rows <= stretches*stretchRows {
		every = rows
	}
	item := 0
	for begin := int64(0); begin < rows; begin += every {
		end := min(rows, begin+stretchRows)
		if every == rows {
			end = rows
		}
		for row := begin + 1; row < end; row++ {
			for offsets[item+1] <= row {
				item++
			}
			if row > offsets[item] {
				counts[k.stepTo(row)]++
			}
		}
	}
	var step int64
	for d, n := range counts {
		if most := counts[step]; n > most || n == most && d < step {
			step = d
		}
	}
	s := &layout.TimeStep{}
	var pairs int64
	for i, first := range offsets[:len(offsets)-1] {
		for row := first + 1; row < offsets[i+1]; row++ {
			d := k.stepTo(row)
			if step == 0 { // no stretch held two rows of an item
				step = d
			}
			s.Largest = max(s.Largest, d)
			if d != step {
				s.Jumps++
			}
			pairs++
		}
	}
	if pairs == 0 {
		return nil
	}
	s.Step = step
	return s
}

// stepTo is the difference of a row's time and the one before.
func (k *Keys) stepTo(row int64) int64 {
	return int64(min(Since(k.TimeOf(row-1), k.TimeOf(row)), math.MaxInt64))
}
