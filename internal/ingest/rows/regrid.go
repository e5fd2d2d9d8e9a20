package rows

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// Limits on the result of --regrid. An input that exceeds them has a wrong time or a wrong step.
const (
	maxRegridFactor = 100    // ratio of rows of the result to rows before
	minRegridLimit  = 10_000 // rows that are always allowed
)

// Regrid inserts rows into the map, so that each item is a regular grid that starts at the item's
// first time. It returns the new offsets of the items. Before it inserts rows, it calls
// checkMissing with their number, and returns the error of that call. Regrid also returns an error
// if a time is not on the grid, or if the grid has too many rows.
func Regrid(
	ctx context.Context, k *Keys, m *Map, offsets []int64, step int64, stepText string,
	checkMissing func(added int64) error,
) ([]int64, error) {
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
		// number of rows minus 1
		steps := Since(start, k.TimeOf(m.At(offsets[i+1]-1))) / uint64(step)
		wantedRows += float64(steps) + 1
		rows += min(steps, maxRows-min(rows, maxRows)) + 1
		gridOffsets = append(gridOffsets, int64(rows))
	}
	if rows > maxRows {
		return nil, &loaderr.OptionError{
			Field: "regrid", Value: stepText, Bare: json.Valid([]byte(stepText)),
			Allowed: fmt.Sprintf("a step that makes at most %d rows of %d, not %.0f", maxRows,
				m.Rows, wantedRows),
			Hint: "is a time wrong, or the step too short?",
		}
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

// Since returns t - start. t must not be before start. The result is exact even if the difference
// exceeds the range of int64.
func Since(start, t int64) uint64 { return uint64(t) - uint64(start) }

// offGridError returns the error of a row whose time is not a whole number of steps after its
// item's first time.
func offGridError(k *Keys, first, row int64, stepText string) error {
	e, of := k.locate(row), k.OfItem(row)
	e.Column = k.Clock.Name
	e.Reason = fmt.Sprintf("the time %s%s is not a whole number of steps of %s after the first, %s",
		k.Clock.TimeText(k.TimeOf(row)), of, stepText, k.Clock.TimeText(k.TimeOf(first)))
	e.Hint = "choose a step with `regrid` that all times are a multiple of"
	return &e
}

// CompleteTimes writes the grid times of inserted rows to the time column d.
func CompleteTimes(m *Map, offsets []int64, d layout.ColumnWriter, step int64) {
	v := layout.Values[int64](d)
	eachInserted(m, offsets, func(first, row int64) {
		v.Data[row*v.Step] = v.Data[first*v.Step] +
			(row-first)*step
	})
}

// CompleteItems writes the values of inserted rows to the item_id column d: the value of the first
// row of their item.
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

// repeatFirst sets inserted rows to the value of their item's first row.
func repeatFirst[T layout.Native](m *Map, offsets []int64, d layout.ColumnWriter) {
	v := layout.Values[T](d)
	eachInserted(m, offsets, func(first, row int64) { v.Data[row*v.Step] = v.Data[first*v.Step] })
}

// eachInserted calls visit for each inserted row, with the first row of its item.
func eachInserted(m *Map, offsets []int64, visit func(first, row int64)) {
	for i, first := range offsets[:len(offsets)-1] {
		for row := first + 1; row < offsets[i+1]; row++ {
			if m.From[row] == Inserted {
				visit(first, row)
			}
		}
	}
}
