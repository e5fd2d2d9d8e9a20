package rows

import (
	"context"
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// What --regrid may make of the rows: an input that asks for more is a mistake in its times or in the step.
const (
	regridMost  = 100    // times as many rows
	regridSmall = 10_000 // rows that are always allowed
)

// Regrid inserts into the map the rows that a regular grid from each item's first time on lacks, and
// returns the items' first rows anew. It asks canMiss before it inserts rows.
func Regrid(ctx context.Context, k *Keys, m *Map, offsets []int64, step int64, stepText string, canMiss func(added int64) error) ([]int64, error) {
	most := max(regridSmall, uint64(m.Rows)*regridMost)
	grid := []int64{0}
	var rows uint64
	all := 0.0
	for i, first := range offsets[:len(offsets)-1] {
		begin := k.TimeOf(m.At(first))
		for row := first + 1; row < offsets[i+1]; row++ {
			if row&(1<<20-1) == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if Since(begin, k.TimeOf(m.At(row)))%uint64(step) != 0 {
				return nil, offGrid(k, m.At(first), m.At(row), stepText)
			}
		}
		steps := Since(begin, k.TimeOf(m.At(offsets[i+1]-1))) / uint64(step) // one less than the rows
		all += float64(steps) + 1
		rows += min(steps, most-min(rows, most)) + 1
		grid = append(grid, int64(rows))
	}
	if rows > most {
		return nil, &loaderr.OptionError{Field: "regrid", Value: stepText, Allowed: fmt.Sprintf("a step that makes at most %d rows of %d, not %.0f", most, m.Rows, all),
			Hint: "is a time wrong, or the step too short?"}
	}
	added := int64(rows) - m.Rows
	if added == 0 {
		return offsets, nil
	}
	if err := canMiss(added); err != nil {
		return nil, err
	}
	err := m.Replace(int64(rows), func(from []int64) error {
		for i, first := range offsets[:len(offsets)-1] {
			to := from[grid[i]:grid[i+1]]
			for at := range to {
				to[at] = Inserted
			}
			begin := k.TimeOf(m.At(first))
			for row := first; row < offsets[i+1]; row++ {
				to[Since(begin, k.TimeOf(m.At(row)))/uint64(step)] = m.At(row)
			}
		}
		return ctx.Err()
	})
	m.Added = added
	return grid, err
}

// Since is how much later a time is than one that is not later: also where an int64 cannot say it.
func Since(begin, when int64) uint64 { return uint64(when) - uint64(begin) }

// offGrid refuses a row whose time is not a number of steps after its item's first.
func offGrid(k *Keys, first, row int64, stepText string) error {
	e, of := k.place(row), k.OfItem(row)
	e.Column = k.Clock.Name
	e.Reason = fmt.Sprintf("the time %s%s is no number of steps of %s after the first, %s", k.Clock.TimeText(k.TimeOf(row)), of, stepText, k.Clock.TimeText(k.TimeOf(first)))
	e.Hint = "choose a step with --regrid that all times are a multiple of"
	return &e
}

// CompleteTimes writes the times of inserted rows: those of the grid.
func CompleteTimes(m *Map, offsets []int64, d layout.ColumnWriter, step int64) {
	v := layout.Values[int64](d)
	between(m, offsets, func(first, row int64) { v.Data[row*v.Step] = v.Data[first*v.Step] + (row-first)*step })
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
	between(m, offsets, func(first, row int64) { v.Data[row*v.Step] = v.Data[first*v.Step] })
}

// between visits the inserted rows, each with the first row of its item.
func between(m *Map, offsets []int64, visit func(first, row int64)) {
	for i, first := range offsets[:len(offsets)-1] {
		for row := first + 1; row < offsets[i+1]; row++ {
			if m.From[row] == Inserted {
				visit(first, row)
			}
		}
	}
}
