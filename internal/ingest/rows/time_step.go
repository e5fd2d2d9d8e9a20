package rows

import (
	"math"

	"github.com/tensorcache/tensorcache/layout"
)

// How many differences the most common one is looked for among: stretches of neighbours, evenly spread, or all where they are
// fewer.
const (
	samples    = 64
	sampleRows = 1024
)

// TimeStep finds the most common difference of neighbouring times of an item, the least of equally common ones, and counts the
// others. It is nil if no item has two rows.
func TimeStep(k *Keys, offsets []int64) *layout.TimeStep {
	if k.Time == nil {
		return nil
	}
	rows := offsets[len(offsets)-1]
	counts := map[int64]int64{}
	stride := max(1, rows/samples)
	if rows <= samples*sampleRows {
		stride = rows
	}
	item := 0
	for start := int64(0); start < rows; start += stride {
		end := min(rows, start+sampleRows)
		if stride == rows {
			end = rows
		}
		for row := start + 1; row < end; row++ {
			for offsets[item+1] <= row {
				item++
			}
			if row > offsets[item] {
				counts[k.timeDiff(row)]++
			}
		}
	}
	var step int64
	for d, n := range counts {
		if highest := counts[step]; n > highest || n == highest && d < step {
			step = d
		}
	}
	s := &layout.TimeStep{}
	var pairs int64
	for i, first := range offsets[:len(offsets)-1] {
		for row := first + 1; row < offsets[i+1]; row++ {
			d := k.timeDiff(row)
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
func (k *Keys) timeDiff(row int64) int64 {
	return int64(min(Since(k.TimeOf(row-1), k.TimeOf(row)), math.MaxInt64))
}
