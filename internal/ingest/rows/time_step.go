package rows

import (
	"math"

	"github.com/tensorcache/tensorcache/layout"
)

// Sample from which the most common time difference is taken: ranges of consecutive rows, evenly
// spaced. If the dataset has fewer rows than the sample, all rows are used.
const (
	samples    = 64
	sampleRows = 1024
)

// TimeStep returns the most common difference between consecutive times of an item, the largest
// difference, and the number of differences that deviate from the most common one. Of equally
// common differences it takes the smallest. It returns nil if no item has two rows, or if there is
// no time column.
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
			if step == 0 { // no sample had two rows of an item
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

// timeDiff returns the difference between the times of a row and the row before, at most
// math.MaxInt64.
func (k *Keys) timeDiff(row int64) int64 {
	return int64(min(Since(k.TimeOf(row-1), k.TimeOf(row)), math.MaxInt64))
}
