package window

import "fmt"

// StepRows is the number of dataset rows in a block of [LargestSteps].
const StepRows = 512

// LargestSteps returns, for each block of StepRows dataset rows, the largest difference in time
// between a row and the row before it in the same item, 0 if there is none. With it an index reads
// only blocks that contain a jump over max_step. The error wraps [ErrTable] if times do not ascend.
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

// stepBlocks returns the number of blocks.
func stepBlocks(rows int64) int64 { return (rows + StepRows - 1) / StepRows }

func descendingTimes(item, row, now, before int64) error {
	return fmt.Errorf("%w: item %d, row %d: time %d after %d, want ascending", ErrTable, item,
		row, now, before)
}
