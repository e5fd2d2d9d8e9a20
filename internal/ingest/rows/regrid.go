package rows

import (
	"context"
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// What --regrid may make of the rows: an input that asks for more is a mistake in its times or in the step.
const (
	maxRegridFactor = 100    // times as many rows
	minRegridLimit  = 10_000 // rows that are always allowed
)

// Regrid inserts into the map the rows that a regular grid from each item's first time on lacks, and
// returns the items' first rows anew. It asks canMiss before it inserts rows.
func Regrid(ctx context.Context, k *Keys, m *Map, offsets []int64, step int64, stepText string, checkMissing func(added int64) error) ([]int64, error) {
	maxRows := max(minRegridLimit, uint64(m.Rows)*maxRegridFactor)
	gridOffsets := []int64{0}
	var rows uint64
	wantedRows := 0.0
	for i, first := range offsets[:len(offsets)-1] {
		start := k.TimeOf(m.At(first))
		for row := first + 1; row < offsets[i+1]; row++ {
			if row&(1<<20-1) == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if Since(start, k.TimeOf(m.At(row)))%uint64(step) != 0 {
				return nil, offGridError(k, m.At(first), m.At(row), stepText)
			}
		}
		steps := Since(start, k.TimeOf(m.At(offsets[i+1]-1))) / uint64(step) // one less than the rows
		wantedRows += float64(steps) + 1
		rows += min(steps, maxRows-min(rows, maxRows)) + 1
		gridOffsets = append(gridOffsets, int64(rows))
	}
	if rows > maxRows {
		return nil, &loaderr.OptionError{Field: "regrid", Value: stepText, Allowed: fmt.Sprintf("a step that makes at most %d rows of %d, not %.0f", maxRows, m.Rows, wantedRows),
			Hint: "is a time wrong, or the step too short?"}
	}
	added := int64(rows) - m.Rows
	if added == 0 {
		return offsets, nil
	}
	if err := checkMissing(added); err != nil {
		return nil, err
	}
	err := m.Replace(int64(rows), func(from []int64) error {
		for i, first := range offsets[:len(offsets)-1] {
			to := from[gridOffsets[i]:gridOffsets[i+1]]
			for at := range to {
				to[at] = Inserted
			}
			start := k.TimeOf(m.At(first))
			for row := first; row < offsets[i+1]; row++ {
				to[Since(start, k.TimeOf(m.At(row)))/uint64(step)] = m.At(row)
			}
		}
		return ctx.Err()
	})
	m.Added = added
	return gridOffsets, err
}

// Since is how much later a time is than one that is not later: also where an int64 cannot say it.
func Since(start, t int64) uint64 { return uint64(t) - uint64(start) }

// offGrid refuses a row whose time is not a number of steps after its item's first.
func offGridError(k *Keys, first, row int64, stepText string) error {
	e, of := k.locate(row), k.OfItem(row)
	e.Column = k.Clock.Name
	e.Reason = fmt.Sprintf("the time %s%s is no number of steps of %s after the first, %s", k.Clock.TimeText(k.TimeOf(row)), of, stepText, k.Clock.TimeText(k.TimeOf(first)))
	e.Hint = "choose a step with --regrid that all times are a multiple of"
	return &e
}

// CompleteTimes writes the times of inserted rows: those of the grid.
func CompleteTimes(m *Map, offsets []int64, d layout.ColumnWriter, step int64) {
	v := layout.Values[int64](d)
	eachInserted(m, offsets, func(first, row int64) { v.Data[row*v.Step] = v.Data[first*v.Step] + (row-first)*step })
}

// CompleteItems writes the items of inserted rows: that of the first row of their item.
func CompleteItems(m *Map, offsets []int64, d layout.ColumnWriter) {
	switch d.DType.Size() {
	case 1:
		repeatFirst[uint8](m, offsets, d)
	case 2:
		repeatFirst[uint16](m, offsets, d)
	case 4:
		repeatFirst[uint32](m, offsets, d)
	default:
		repeatFirst[uint64](m, offsets, d)
	}
}

// repeatFirst gives inserted rows the value of their item's first.
func repeatFirst[T layout.Native](m *Map, offsets []int64, d layout.ColumnWriter) {
	v := layout.Values[T](d)
	eachInserted(m, offsets, func(first, row int64) { v.Data[row*v.Step] = v.Data[first*v.Step] })
}

// between visits the inserted rows, each with the first row of its item.
func eachInserted(m *Map, offsets []int64, visit func(first, row int64)) {
	for i, first := range offsets[:len(offsets)-1] {
		for row := first + 1; row < offsets[i+1]; row++ {
			if m.From[row] == Inserted {
				visit(first, row)
			}
		}
	}
}
