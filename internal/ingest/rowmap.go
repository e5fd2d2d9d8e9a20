package ingest

import (
	"errors"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/layout"
)

// rowMap says which row of the sources is each row of the result. Sorting, duplicates and a regular grid only make this
// map; the columns are moved once, at the end, and not at all where every row stays where it is.
type rowMap struct {
	dir     string
	rows    int64
	from    []int64 // nil: every row is its own
	scratch *column.Scratch
	added   int64 // how many rows of from are inserted
}

// inserted stands in a rowMap for a row that is in no source.
const inserted = -1

// at is the row of the sources that a row of the result comes from, or inserted.
func (m *rowMap) at(row int64) int64 {
	if m.from == nil {
		return row
	}
	return m.from[row]
}

// replace makes the map anew, with rows entries that fill writes; at tells the old ones until it returns. It takes 8 bytes a row
// of scratch.
func (m *rowMap) replace(rows int64, fill func(from []int64) error) error {
	s, err := column.NewScratch(m.dir, layout.Table{Rows: rows, Columns: []layout.Column{{Name: "from", DType: layout.Int64}}})
	if err != nil {
		return err
	}
	from := layout.Values[int64](s.Column(0, layout.Random)).Data
	if rows == 0 {
		from = []int64{} // not every row, but none
	}
	if err := fill(from); err != nil {
		return errors.Join(err, s.Close())
	}
	err = m.scratch.Close()
	m.rows, m.from, m.scratch = rows, from, s
	return err
}

// own makes the map one that can be written to.
func (m *rowMap) own() error {
	if m.from != nil {
		return nil
	}
	return m.replace(m.rows, func(from []int64) error {
		for row := range from {
			from[row] = int64(row)
		}
		return nil
	})
}

func (m *rowMap) close() error {
	if m == nil {
		return nil
	}
	err := m.scratch.Close()
	m.from, m.scratch = nil, nil
	return err
}
