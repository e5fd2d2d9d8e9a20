package source

import (
	"sort"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
)

// RowGroupPruner is a reader that can skip row groups. A load skips a row group if its bounds show
// that the filters drop all of its rows.
type RowGroupPruner interface {
	Reader
	// GroupRows returns the number of rows of each row group, nil if no row group can be skipped.
	GroupRows() []int64
	// Bounds returns a lower and an upper bound of the values of a column in a row group. index is
	// the column's index in the source, and as the type that the column is read as. The bounds are
	// two int64 or two string, according to that type. ok is false if they are not known.
	Bounds(index, group int, as column.Column) (least, most any, ok bool)
	// Without returns a reader of the row groups that are not skipped, as if there were no others.
	// Rows in its errors, and lines, are those of the file. skip must leave at least one row group.
	Without(skip []bool) Reader
}

// Selection is the part of a source that a load reads.
type Selection struct {
	Reader Reader
	Rows   int64 // number of selected rows
	// Starts has the first row of each selected row group, counted in selected rows.
	Starts []int64
	// SkippedBefore has the number of skipped rows before each selected row group.
	SkippedBefore []int64
}

// SourceRow returns the row of the source for a selected row.
func (c Selection) SourceRow(row int64) int64 {
	if i := sort.Search(len(c.Starts), func(i int) bool { return c.Starts[i] > row }); i > 0 {
		return row + c.SkippedBefore[i-1]
	}
	return row
}
