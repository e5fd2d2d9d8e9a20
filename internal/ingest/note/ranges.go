package note

import (
	"cmp"
	"context"
	"sync/atomic"

	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/layout"
)

// taskRows is the number of rows that a worker reads at once.
const taskRows = 1 << 18

// timeSteps counts the rows of a time column whose time is before that of the previous row, or the
// same.
type timeSteps struct{ decreases, repeats int64 }

// increase reports whether each time is after that of the previous row.
func (s timeSteps) increase() bool { return s.decreases+s.repeats == 0 }

// stepsOf counts the steps of a time column that do not increase.
func stepsOf(ctx context.Context, workers int, times layout.Strided[int64]) (timeSteps, error) {
	var decreases, repeats atomic.Int64
	err := eachRow(ctx, workers, times.Rows, func(row, end int64) {
		var s timeSteps
		for ; row < end; row++ {
			switch step := stepAt(times, row); {
			case step < 0:
				s.decreases++
			case step == 0:
				s.repeats++
			}
		}
		decreases.Add(s.decreases)
		repeats.Add(s.repeats)
	})
	return timeSteps{decreases.Load(), repeats.Load()}, err
}

// textRanges describes the times in the ranges of a text column. A range is a run of consecutive
// rows with the same text.
type textRanges struct {
	oneEach   bool  // each text is in one range, and in no range a time decreases
	increases int64 // steps within ranges
}

// rangesOf reads the ranges of a text column with a number of different texts, until oneEach is
// false.
func rangesOf(ctx context.Context, workers int, times layout.Strided[int64],
	codes layout.Strided[int32], texts int64) (textRanges, error) {
	var changes, increases atomic.Int64
	var decreases atomic.Bool
	err := eachRow(ctx, workers, times.Rows, func(row, end int64) {
		changed, increased := int64(0), int64(0)
		for ; row < end && !decreases.Load() && changes.Load() < texts; row++ {
			switch step := stepAt(times, row); {
			case codes.Data[row*codes.Step] != codes.Data[(row-1)*codes.Step]:
				changed++
			case step < 0:
				decreases.Store(true)
			case step > 0:
				increased++
			}
		}
		changes.Add(changed)
		increases.Add(increased)
	})
	return textRanges{!decreases.Load() && changes.Load() == texts-1, increases.Load()}, err
}

// stepAt returns whether the time of a row is before (-1) or after (1) that of the previous row, or
// the same (0).
func stepAt(times layout.Strided[int64], row int64) int {
	return cmp.Compare(times.Data[row*times.Step], times.Data[(row-1)*times.Step])
}

// eachRow calls read for ranges of all rows but the first, which no row precedes, on some workers.
func eachRow(ctx context.Context, workers int, rows int64, read func(row, end int64)) error {
	tasks := int((rows + taskRows - 1) / taskRows)
	return parallel.For(ctx, workers, tasks, "", func(_, task int) error {
		first := int64(task) * taskRows
		read(max(1, first), min(rows, first+taskRows))
		return nil
	})
}
