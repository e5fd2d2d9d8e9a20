package ingest

import (
	"sort"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
)

// grouped is a reader of rows in groups that can be left out, each by itself, where it is known that no row of them is kept.
type grouped interface {
	reader
	// groupRows are the rows of each group, nil where none can be left out.
	groupRows() []int64
	// bounds are values that no value of a column is below and above in a group: two int64 or two string, as the column is read. ok is false
	// where they are not known.
	bounds(index, group int, as column.Column) (least, most any, ok bool)
	// without reads the other groups, at least one, as if they were all.
	without(skip []bool) reader
}

// chosen is what a load reads of a source.
type chosen struct {
	reader reader
	rows   int64
	starts []int64 // of the groups that are read, in rows that are read
	ahead  []int64 // rows that are left out before each of them
}

// origin is the row of the source that a row that was read is.
func (c chosen) origin(row int64) int64 {
	if i := sort.Search(len(c.starts), func(i int) bool { return c.starts[i] > row }); i > 0 {
		return row + c.ahead[i-1]
	}
	return row
}
