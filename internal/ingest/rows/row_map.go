package rows

import (
	"errors"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/layout"
)

// Map says which row of the sources is each row of the result. Sorting, duplicates and a regular grid only make this
// map; the columns are moved once, at the end, and not at all where every row stays where it is.
type Map struct {
	Dir     string
	Rows    int64
	From    []int64 // nil: every row is its own
	scratch *column.Scratch
	Added   int64 // how many rows of from are inserted
}

// Inserted stands in a rowMap for a row that is in no source.
const Inserted = -1

// At is the row of the sources that a row of the result comes from, or inserted.
func (m *Map) At(row int64) int64 {
	if m.From == nil {
		return row
	}
	return m.From[row]
}

// Replace makes the map anew, with rows entries that fill writes; at tells the old ones until it returns. It takes 8 bytes a row
// of scratch.
func (m *Map) Replace(rows int64, fill func(from []int64) error) error {
	s, err := column.NewScratch(m.Dir, layout.Table{Rows: rows, Columns: []layout.Column{{Name: "from", DType: layout.Int64}}})
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
	m.Rows, m.From, m.scratch = rows, from, s
	return err
}

// Own makes the map one that can be written to.
func (m *Map) Materialize() error {
	if m.From != nil {
		return nil
	}
	return m.Replace(m.Rows, func(from []int64) error {
		for row := range from {
			from[row] = int64(row)
		}
		return nil
	})
}

func (m *Map) Close() error {
	if m == nil {
		return nil
	}
	err := m.scratch.Close()
	m.From, m.scratch = nil, nil
	return err
}
