package source

import (
	"sort"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
)

// RowGroupPruner is a reader of rows in groups that can be left out, each by itself, where it is known that no row of them is kept.
type RowGroupPruner interface {
	Reader
	// GroupRows are the rows of each group, nil if none can be left out.
	GroupRows() []int64
	// Bounds are values that no value of a column is below and above in a group: two int64 or two string, as the column is read. ok is false
	// where they are not known.
	Bounds(index, group int, as column.Column) (least, most any, ok bool)
	// Without reads the other groups, at least one, as if they were all.
	Without(skip []bool) Reader
}

// Selection is what a load reads of a source.
type Selection struct {
	Reader        Reader
	Rows          int64
	Starts        []int64 // of the groups that are read, in rows that are read
	SkippedBefore []int64 // rows that are left out before each of them
}

// SourceRow is the row of the source that a row that was read is.
func (c Selection) SourceRow(row int64) int64 {
	if i := sort.Search(len(c.Starts), func(i int) bool { return c.Starts[i] > row }); i > 0 {
		return row + c.SkippedBefore[i-1]
	}
	return row
}
