package window

import (
	"errors"
	"fmt"
)

// ErrTable is wrapped by errors of the table: offsets that descend, times that do not ascend within
// an item, missing rows out of order. The message names the item and row.
var ErrTable = errors.New("invalid table")

// Table is the data of a dataset that decides which windows exist. An index uses its slices without
// copying them.
type Table struct {
	Offsets []int64 // item i has the dataset rows [Offsets[i], Offsets[i+1])
	Times   []int64 // per dataset row, strictly ascending within an item; nil without a time column
	Unit    string  // of Times: "s", "ms", "us", "ns", "day", or "" for integer time
	Zone    Zone    // of Times; bounds without a zone are in this one
	Columns []Column
	// KnownAfter is true if known columns have values in rows after an item's end, so that windows of
	// [Index.Latest] need no such rows.
	KnownAfter bool
	// LargestSteps is the result of [LargestSteps] for Times, or nil. With it max_step needs to
	// read only the rows near a jump.
	LargestSteps []uint64

	// ItemHash returns a fixed hash of an item's value, for splits by fractions of items. It may be
	// nil.
	ItemHash func(item int64) uint64
	// ItemName returns the name of an item in messages, such as "item a". If it is nil, messages
	// use the item's number.
	ItemName func(item int64) string
}

// Column is a value column that windows use.
type Column struct {
	Context, Target bool
	Cells           int64        // cells per row: the number of features
	Missing         []MissingRow // in ascending order; only rows with missing cells
}

// MissingRow is a dataset row that misses cells of a column.
type MissingRow struct {
	Row, Cells int64 // number of the row, and of its missing cells
}

// Items returns the number of items.
func (t *Table) Items() int64 { return max(0, int64(len(t.Offsets))-1) }

// length returns the number of rows of an item.
func (t *Table) length(item int64) int64 { return t.Offsets[item+1] - t.Offsets[item] }

// longest returns the number of rows of the longest item.
func (t *Table) longest() int64 {
	longest := int64(0)
	for i := range t.Items() {
		longest = max(longest, t.length(i))
	}
	return longest
}

func (t *Table) descendingOffsets(item int64) error {
	return fmt.Errorf("%w: item %d has offsets %d and %d, want ascending", ErrTable, item,
		t.Offsets[item], t.Offsets[item+1])
}

func (t *Table) name(item int64) string {
	if t.ItemName == nil {
		return fmt.Sprintf("item %d", item)
	}
	return t.ItemName(item)
}

// times returns the times of an item's rows.
func (t *Table) times(item int64) []int64 { return t.Times[t.Offsets[item]:t.Offsets[item+1]] }

// check returns an error that wraps ErrTable if the table is invalid.
func (t *Table) check() error {
	rows := int64(0)
	if n := len(t.Offsets); n > 0 {
		rows = t.Offsets[n-1]
		if t.Offsets[0] != 0 || rows > maxLength {
			return fmt.Errorf("%w: offsets run from %d to %d, want from 0 to at most %d", ErrTable,
				t.Offsets[0], rows, int64(maxLength))
		}
	}
	if t.Times != nil && int64(len(t.Times)) != rows {
		return fmt.Errorf("%w: %d times for %d rows", ErrTable, len(t.Times), rows)
	}
	if t.LargestSteps != nil && int64(len(t.LargestSteps)) != stepBlocks(rows) {
		return fmt.Errorf("%w: largest steps of %d blocks of rows, want %d", ErrTable,
			len(t.LargestSteps), stepBlocks(rows))
	}
	for i, c := range t.Columns {
		if c.Cells < 1 {
			return fmt.Errorf("%w: column %d has %d cells a row, want at least 1",
				ErrTable, i, c.Cells)
		}
		last := int64(-1)
		for _, m := range c.Missing {
			if m.Row <= last || m.Row >= rows || m.Cells < 1 || m.Cells > c.Cells {
				return fmt.Errorf(
					"%w: column %d, missing row %d with %d cells after row %d: want ascending rows below %d and 1 to %d cells", ErrTable, i, m.Row, m.Cells, last, rows, c.Cells)
			}
			last = m.Row
		}
	}
	return nil
}
