// Package rows finds out which rows of the sources are those of a result, and in which order: it filters,
// sorts, removes duplicates and completes a regular grid.
//
// A [Map] says which row of the sources each row of the result is. Only the map changes; the caller moves
// the columns once, at the end, with [CopyRows], and not at all if every row stays where it is. The
// package knows the item and time columns ([Keys]) and nothing of values.
package rows

import (
	"context"
	"fmt"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// Keys are the columns that say which item a row belongs to, and when it was.
type Keys struct {
	names        []string
	Columns      []func(row int64) int64 // value or code of each item_id column
	dictionaries [][]string              // the words of a text column, else nil
	Time         *layout.Strided[int64]  // nil without a time column
	locate       Locator
	Clock        column.Column
}

// Locator names the source and its row (from 1) of a row of all sources together, for messages.
type Locator func(row int64) loaderr.SourceError

// NewKeys finds the item and time columns. vocab holds the words of text columns by their names. An
// integer time is stored as int64.
func NewKeys(columns []column.Column, roles []layout.Role, dictionaries map[string][]string, dest func(i int) layout.ColumnWriter, locate Locator) *Keys {
	k := &Keys{locate: locate}
	for i, c := range columns {
		switch roles[i] {
		case layout.RoleItemID:
			k.names, k.Columns, k.dictionaries = append(k.names, c.Name), append(k.Columns, integerReader(dest(i))), append(k.dictionaries, dictionaries[c.Name])
		case layout.RoleTime:
			v := layout.Values[int64](dest(i))
			k.Time, k.Clock = &v, c
		}
	}
	return k
}

// integers reads an integer or text column.
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

func integerReaderOf[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32](d layout.ColumnWriter) func(row int64) int64 {
	v := layout.Values[T](d)
	return func(row int64) int64 { return int64(v.Data[row*v.Step]) }
}

// TimeOf is the time of a row.
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

// numbering gives items their numbers in the order of their first rows.
type numbering struct {
	pairs []map[[2]int64]int64 // by item_id column: (number so far, value) to number
}

func newNumbering(columns int) *numbering {
	n := &numbering{pairs: make([]map[[2]int64]int64, columns)}
	for i := range n.pairs {
		n.pairs[i] = map[[2]int64]int64{}
	}
	return n
}

// number is the item's number, and whether it is a new one.
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

// FindItems finds the items' first rows in the map and checks that the rows of each lie together, in
// the order of their times. twice reports whether some share a time, which is refused unless duplicates
// are allowed.
func FindItems(ctx context.Context, k *Keys, m *Map, duplicates bool) (offsets []int64, twice bool, err error) {
	offsets = []int64{0}
	if len(k.Columns) == 0 && k.Time == nil {
		return append(offsets, m.Rows), false, nil
	}
	seen := newNumbering(len(k.Columns))
	before := m.At(0)
	if len(k.Columns) > 0 {
		seen.number(k, before)
	}
	for row := int64(1); row < m.Rows; row++ {
		if row&(1<<20-1) == 0 && ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		at := m.At(row)
		switch {
		case !k.same(before, at):
			if _, isNew := seen.number(k, at); !isNew {
				return nil, false, scatteredError(k, at)
			}
			offsets = append(offsets, row)
		case k.Time == nil || k.TimeOf(at) > k.TimeOf(before):
		case duplicates && k.TimeOf(at) == k.TimeOf(before):
			twice = true
		default:
			return nil, false, unsortedError(k, before, at)
		}
		before = at
	}
	return append(offsets, m.Rows), twice, nil
}

// scattered refuses a row of the sources whose item had ended.
func scatteredError(k *Keys, row int64) error {
	e := k.locate(row)
	e.Column = strings.Join(k.names, ", ")
	e.Reason = fmt.Sprintf("item %s comes back after another item", k.ItemName(row))
	e.Hint = "let the load sort the rows with --sort"
	return &e
}

// disordered refuses a row of the sources that is not later than the one before.
func unsortedError(k *Keys, before, row int64) error {
	e, of := k.locate(row), k.OfItem(row)
	e.Column = k.Clock.Name
	if k.TimeOf(row) == k.TimeOf(before) {
		e.Reason = fmt.Sprintf("two rows%s have the time %s", of, k.Clock.TimeText(k.TimeOf(row)))
		e.Hint = "keep one row for each time with --duplicates first, last or mean"
		if len(k.Columns) == 0 {
			e.Hint = "name the column that tells series apart with --item-id, or keep one row for each time with --duplicates first, last or mean"
		}
		return &e
	}
	e.Reason = fmt.Sprintf("time %s%s comes after %s", k.Clock.TimeText(k.TimeOf(row)), of, k.Clock.TimeText(k.TimeOf(before)))
	e.Hint = "let the load sort the rows with --sort"
	if len(k.Columns) == 0 {
		e.Hint += ", or name the column that tells series apart with --item-id"
	}
	return &e
}

// ItemName is the name of a row's item, as a message shows it.
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

// OfItem is where a message says of which item a row is; nothing without items.
func (k *Keys) OfItem(row int64) string {
	if len(k.Columns) == 0 {
		return ""
	}
	return " of item " + k.ItemName(row)
}

// ItemValues names the items that begin at the offsets.
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
