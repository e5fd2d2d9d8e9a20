package rows

import (
	"context"
	"fmt"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// hintOneRow is the hint for several rows of an item with one time.
const hintOneRow = "keep one row for each time with `duplicates=\"first\"` " +
	"(or \"last\", or \"mean\")"

// Keys are the item_id columns and the time column: they determine the item and the time of a row.
type Keys struct {
	names        []string
	Columns      []func(row int64) int64 // read the value or code of each item_id column
	dictionaries [][]string              // of each item_id column; nil unless it is text
	Time         *layout.Strided[int64]  // nil without a time column
	locate       Locator
	Clock        column.Column
}

// Locator returns the position of a row in its source, for error messages: the path, and the row
// number starting at 1. row counts the rows of all sources together.
type Locator func(row int64) loaderr.SourceError

// NewKeys returns the item_id and time columns among the given columns. dictionaries has the
// dictionary of each text column, by column name. dest returns the stored column i. The time column
// must be stored as int64.
func NewKeys(
	columns []column.Column, roles []layout.Role, dictionaries map[string][]string,
	dest func(i int) layout.ColumnWriter, locate Locator,
) *Keys {
	k := &Keys{locate: locate}
	for i, c := range columns {
		switch roles[i] {
		case layout.RoleItemID:
			k.names, k.Columns, k.dictionaries = append(k.names, c.Name),
				append(k.Columns, integerReader(dest(i))),
				append(k.dictionaries, dictionaries[c.Name])
		case layout.RoleTime:
			v := layout.Values[int64](dest(i))
			k.Time, k.Clock = &v, c
		}
	}
	return k
}

// integerReader returns a function that reads a row of an integer, boolean or text column.
func integerReader(d layout.ColumnWriter) func(row int64) int64 {
	switch d.DType.Plain() {
	case layout.Int8:
		return integerReaderOf[int8](d)
	case layout.Int16:
		return integerReaderOf[int16](d)
	case layout.Int32:
		return integerReaderOf[int32](d)
	case layout.Uint8, layout.Bool:
		return integerReaderOf[uint8](d)
	case layout.Uint16:
		return integerReaderOf[uint16](d)
	case layout.Uint32:
		return integerReaderOf[uint32](d)
	}
	return integerReaderOf[int64](d)
}

func integerReaderOf[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32](
	d layout.ColumnWriter,
) func(row int64) int64 {
	v := layout.Values[T](d)
	return func(row int64) int64 { return int64(v.Data[row*v.Step]) }
}

// TimeOf returns the time of a row, in the unit of the time column.
func (k *Keys) TimeOf(row int64) int64 { return k.Time.Data[row*k.Time.Step] }

// same reports whether two rows belong to one item.
func (k *Keys) same(a, b int64) bool {
	for _, value := range k.Columns {
		if value(a) != value(b) {
			return false
		}
	}
	return true
}

// numbering assigns numbers to items in the order of their first rows.
type numbering struct {
	pairs []map[[2]int64]int64 // by item_id column: (number of the columns before, value) to number
}

func newNumbering(columns int) *numbering {
	n := &numbering{pairs: make([]map[[2]int64]int64, columns)}
	for i := range n.pairs {
		n.pairs[i] = map[[2]int64]int64{}
	}
	return n
}

// number returns the number of a row's item, and whether the item is new.
func (n *numbering) number(k *Keys, row int64) (item int64, isNew bool) {
	for i, value := range k.Columns {
		pair := [2]int64{item, value(row)}
		next, ok := n.pairs[i][pair]
		if !ok {
			next = int64(len(n.pairs[i]))
			n.pairs[i][pair] = next
		}
		item, isNew = next, !ok
	}
	return item, isNew
}

// FindItems returns the offsets of the items: the first row of each item in the map and, at the
// end, the number of rows. It returns a [loaderr.SourceError] if the rows of an item are not
// contiguous or not in the order of their times. duplicates is the number of rows that have the item
// and time of the row before; it is an error if there are any and allowDuplicates is not set.
func FindItems(ctx context.Context, k *Keys, m *Map, allowDuplicates bool) (offsets []int64,
	duplicates int64, err error) {
	offsets = []int64{0}
	if len(k.Columns) == 0 && k.Time == nil {
		return append(offsets, m.Rows), 0, nil
	}
	seen := newNumbering(len(k.Columns))
	before := m.At(0)
	if len(k.Columns) > 0 {
		seen.number(k, before)
	}
	for row := int64(1); row < m.Rows; row++ {
		if row&(1<<20-1) == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		at := m.At(row)
		switch {
		case !k.same(before, at):
			if _, isNew := seen.number(k, at); !isNew {
				return nil, 0, interruptedItemError(k, at)
			}
			offsets = append(offsets, row)
		case k.Time == nil || k.TimeOf(at) > k.TimeOf(before):
		case allowDuplicates && k.TimeOf(at) == k.TimeOf(before):
			duplicates++
		default:
			return nil, 0, unsortedError(k, before, at)
		}
		before = at
	}
	return append(offsets, m.Rows), duplicates, nil
}

// CheckApart returns a [loaderr.SourceError] if the rows of an item, among those from first to
// end-1, are not contiguous. The error has the hint.
func CheckApart(ctx context.Context, k *Keys, first, end int64, hint string) error {
	seen := newNumbering(len(k.Columns))
	for row := first; row < end; row++ {
		if row&(1<<20-1) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if row > first && k.same(row-1, row) {
			continue
		}
		if _, isNew := seen.number(k, row); !isNew {
			e := interruptedItemError(k, row)
			e.Hint = hint
			return e
		}
	}
	return nil
}

// interruptedItemError returns the error of a row whose item already ended at an earlier row.
func interruptedItemError(k *Keys, row int64) *loaderr.SourceError {
	e := k.locate(row)
	e.Column = strings.Join(k.names, ", ")
	e.Reason = fmt.Sprintf("item %s appears again after another item", k.ItemName(row))
	e.Hint = "sort the rows with `sort=true`"
	return &e
}

// unsortedError returns the error of a row that is not later than the row before.
func unsortedError(k *Keys, before, row int64) error {
	e, of := k.locate(row), k.OfItem(row)
	e.Column = k.Clock.Name
	if k.TimeOf(row) == k.TimeOf(before) {
		e.Reason = fmt.Sprintf("two rows%s have the time %s", of, k.Clock.TimeText(k.TimeOf(row)))
		e.Hint = hintOneRow
		if len(k.Columns) == 0 {
			e.Hint = "name the column that identifies the series with `item_id`, or " + hintOneRow
		}
		return &e
	}
	e.Reason = fmt.Sprintf("time %s%s comes after %s",
		k.Clock.TimeText(k.TimeOf(row)), of, k.Clock.TimeText(k.TimeOf(before)))
	e.Hint = "sort the rows with `sort=true`"
	if len(k.Columns) == 0 {
		e.Hint += ", or name the column that identifies the series with `item_id`"
	}
	return &e
}

// ItemName returns the name of a row's item in the form of error messages.
func (k *Keys) ItemName(row int64) string {
	parts := make([]string, len(k.Columns))
	for i, value := range k.Columns {
		if v := value(row); k.dictionaries[i] != nil {
			parts[i] = loaderr.Quote(k.dictionaries[i][v])
		} else {
			parts[i] = fmt.Sprint(v)
		}
	}
	return strings.Join(parts, ", ")
}

// OfItem returns " of item " and the name of a row's item, for error messages. It returns "" if the
// load has no item_id column.
func (k *Keys) OfItem(row int64) string {
	if len(k.Columns) == 0 {
		return ""
	}
	return " of item " + k.ItemName(row)
}

// ItemValues returns, for each item_id column, the values of the items that start at the offsets.
func (k *Keys) ItemValues(offsets []int64) []layout.ItemValues {
	var out []layout.ItemValues
	for i, value := range k.Columns {
		v := layout.ItemValues{Name: k.names[i]}
		for _, row := range offsets[:len(offsets)-1] {
			if k.dictionaries[i] != nil {
				v.Texts = append(v.Texts, k.dictionaries[i][value(row)])
			} else {
				v.Ints = append(v.Ints, value(row))
			}
		}
		out = append(out, v)
	}
	return out
}
