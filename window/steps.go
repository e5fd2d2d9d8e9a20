package window

import "fmt"

// StepRows is how many dataset rows share one number of [LargestSteps].
const StepRows = 512

// LargestSteps are the largest differences in time between neighbouring rows of an item: number i
// is that of the rows [i·StepRows, (i+1)·StepRows), each against the row before it, and 0 where all
// of them begin items. From it the jumps over any max_step are found by reading only the rows of
// the blocks that have one. The error wraps [ErrTable] where times do not ascend.
func LargestSteps(t *Table) ([]uint64, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	largest := make([]uint64, stepBlocks(int64(len(t.Times))))
	for item := range t.Items() {
		from, to := t.Offsets[item], t.Offsets[item+1]
		for row := from + 1; row < to; {
			end, most := min(to, (row/StepRows+1)*StepRows), uint64(0)
			at := row / StepRows
			for before := t.Times[row-1]; row < end; row++ {
				now := t.Times[row]
				if now <= before {
					return nil, descendingTimes(item, row-from, now, before)
				}
				most = max(most, uint64(now)-uint64(before))
				before = now
			}
			largest[at] = max(largest[at], most)
		}
	}
	return largest, nil
}

func stepBlocks(rows int64) int64 { return (rows + StepRows - 1) / StepRows }

func descendingTimes(item, row, now, before int64) error {
	return fmt.Errorf("%w: item %d, row %d: time %d after %d, want ascending", ErrTable, item,
		row, now, before)
}
