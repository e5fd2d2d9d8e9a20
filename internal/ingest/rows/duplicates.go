package rows

import (
	"context"
	"fmt"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/layout"
)

// Deduplicate removes all rows but one of each item and time from the map: it keeps the last row if
// last is set, else the first. It returns the new offsets of the items. The map must be
// materialized.
func Deduplicate(k *Keys, m *Map, offsets []int64, last bool) []int64 {
	itemOffsets := make([]int64, 1, len(offsets))
	var n int64
	_ = eachDuplicateGroup(k, m, offsets, func(first, end int64) error {
		at := first
		if last {
			at = end - 1
		}
		if first == offsets[len(itemOffsets)] {
			itemOffsets = append(itemOffsets, n)
		}
		m.From[n] = m.From[at] // n ≤ first, so the overwritten entry was already visited
		n++
		return nil
	})
	m.Rows, m.From = n, m.From[:n]
	return append(itemOffsets, n)
}

// eachDuplicateGroup calls visit for each range of rows of the map that have the same item and
// time, also for ranges of one row. It stops at the first error.
func eachDuplicateGroup(k *Keys, m *Map, offsets []int64,
	visit func(first, end int64) error) error {
	for i, first := range offsets[:len(offsets)-1] {
		for first < offsets[i+1] {
			end, time := first+1, k.TimeOf(m.At(first))
			for end < offsets[i+1] && k.TimeOf(m.At(end)) == time {
				end++
			}
			if err := visit(first, end); err != nil {
				return err
			}
			first = end
		}
	}
	return nil
}

// Average combines the values of each group of rows that have the same item and time, and writes
// the result to the group's first row. The result of floats is the mean of the values that are not
// missing. Values of other types must be equal in all rows, otherwise Average returns a
// [loaderr.SourceError]. integers states that a float column contains integers or booleans, which
// must be equal too. The map must be materialized.
func Average(
	ctx context.Context, k *Keys, m *Map, offsets []int64, d layout.ColumnWriter, c column.Column,
	integers bool,
) error {
	var mean func(rows []int64) (same bool)
	switch d.DType {
	case layout.Float16:
		mean = meanRows(layout.Values[layout.Half](d),
			func(h layout.Half) float64 { return float64(h.Float32()) }, layout.HalfOf)
	case layout.Float32:
		mean = meanRows(layout.Values[float32](d),
			func(v float32) float64 { return float64(v) },
			func(v float64) float32 { return float32(v) })
	case layout.Float64:
		mean = meanRows(layout.Values[float64](d),
			func(v float64) float64 { return v }, func(v float64) float64 { return v })
	default:
		mean = sameRows(d)
	}
	if integers {
		mean = sameIntegers(d)
	}
	return eachDuplicateGroup(k, m, offsets, func(first, end int64) error {
		if end-first == 1 || mean(m.From[first:end]) {
			return ctx.Err()
		}
		e := k.locate(m.At(end - 1))
		e.Column = c.Name
		e.Reason = fmt.Sprintf("the rows%s with the time %s differ, and %s has no mean",
			k.OfItem(m.At(first)), k.Clock.TimeText(k.TimeOf(m.At(first))), c.Kind.DType())
		e.Hint = "keep one of them with `duplicates=\"first\"` or `duplicates=\"last\"`"
		return &e
	})
}

// meanRows returns a function that writes the mean of the given rows to the first of them, for each
// feature. It ignores NaN. The function always returns true.
func meanRows[T layout.Native](
	v layout.Strided[T], toFloat func(T) float64, fromFloat func(float64) T,
) func(rows []int64) bool {
	return func(rows []int64) bool {
		for f := range v.Width {
			sum, n := 0.0, 0
			for _, row := range rows {
				if x := toFloat(v.Data[row*v.Step+f]); x == x {
					sum += x
					n++
				}
			}
			mean := column.NaN
			if n > 0 {
				mean = sum / float64(n)
			}
			v.Data[rows[0]*v.Step+f] = fromFloat(mean)
		}
		return true
	}
}

// sameRows returns a function that reports whether the given rows of a column have equal values.
func sameRows(d layout.ColumnWriter) func(rows []int64) bool {
	switch d.DType.Size() {
	case 1:
		return sameValues[uint8](d)
	case 2:
		return sameValues[uint16](d)
	case 4:
		return sameValues[uint32](d)
	}
	return sameValues[uint64](d)
}

func sameValues[T layout.Number](d layout.ColumnWriter) func(rows []int64) bool {
	v := layout.Values[T](d)
	return func(rows []int64) bool {
		for _, row := range rows[1:] {
			if !slices.Equal(v.Row(row), v.Row(rows[0])) {
				return false
			}
		}
		return true
	}
}

// sameIntegers returns a function that reports whether the given rows of a float column that
// contains integers have equal values. It ignores missing values and fills those of the first row
// from the other rows.
func sameIntegers(d layout.ColumnWriter) func(rows []int64) bool {
	if d.DType == layout.Float32 {
		return samePresentValues(layout.Values[float32](d))
	}
	return samePresentValues(layout.Values[float64](d))
}

func samePresentValues[T float32 | float64](v layout.Strided[T]) func(rows []int64) bool {
	return func(rows []int64) bool {
		first := v.Row(rows[0])
		for _, row := range rows[1:] {
			for f, x := range v.Row(row) {
				if first[f] != first[f] {
					first[f] = x
				}
				if x == x && x != first[f] {
					return false
				}
			}
		}
		return true
	}
}
