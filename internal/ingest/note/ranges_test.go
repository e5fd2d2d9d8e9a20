package note

import (
	"context"
	"testing"

	"github.com/tensorcache/tensorcache/layout"
)

// TestRangesOfManyRows reads several tasks. Times decrease, and the text changes, at the first row
// of a task.
func TestRangesOfManyRows(t *testing.T) {
	const texts, rows = 3, 3*taskRows + 5
	times := layout.Strided[int64]{Data: make([]int64, 2*rows), Step: 2, Width: 1, Rows: rows}
	codes := layout.Strided[int32]{Data: make([]int32, rows), Step: 1, Width: 1, Rows: rows}
	for row := range int64(rows) {
		item := min(row/taskRows, texts-1)
		times.Data[2*row], codes.Data[row] = row-item*taskRows, int32(item)
	}
	check := func(texts int64, wantSteps timeSteps, want textRanges) {
		t.Helper()
		steps, err := stepsOf(context.Background(), 2, times)
		if err != nil || steps != wantSteps {
			t.Errorf("steps %+v, %v, want %+v", steps, err, wantSteps)
		}
		ranges, err := rangesOf(context.Background(), 2, times, codes, texts)
		if err != nil || ranges.oneEach != want.oneEach || want.oneEach && ranges != want {
			t.Errorf("ranges %+v, %v, want %+v", ranges, err, want)
		}
	}
	check(texts, timeSteps{decreases: 2}, textRanges{true, rows - texts})
	check(texts-1, timeSteps{decreases: 2}, textRanges{})
	check(texts+1, timeSteps{decreases: 2}, textRanges{})
	last := &times.Data[2*(rows-1)]
	*last--
	check(texts, timeSteps{decreases: 2, repeats: 1}, textRanges{true, rows - texts - 1})
	*last--
	check(texts, timeSteps{decreases: 3}, textRanges{})
	times.Rows, codes.Rows = 0, 0
	check(1, timeSteps{}, textRanges{true, 0})
}
