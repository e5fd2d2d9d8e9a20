package rows

import (
	"errors"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/layout"
)

// Map contains the number of the source row for each row of the result. Filtering, sorting,
// removing duplicates and completing a grid change only the map. The caller closes it.
type Map struct {
	Dir     string  // directory of the scratch file that stores From
	Rows    int64   // number of rows of the result
	From    []int64 // source row of each row; nil: each row is its own source row
	scratch *column.Scratch
	Added   int64 // number of inserted rows in From
}

// Inserted is the entry of a [Map] for an inserted row, which no source has.
const Inserted = -1

// At returns the source row of a row of the result, or [Inserted].
func (m *Map) At(row int64) int64 {
	if m.From == nil {
		return row
	}
	return m.From[row]
}

// Replace replaces the map by one with the given number of rows. It calls fill to write the
// entries. Until fill returns, At returns the old entries. If fill returns an error, the old map
// remains. The new entries take 8 bytes per row in a scratch file.
func (m *Map) Replace(rows int64, fill func(from []int64) error) error {
	s, err := column.NewScratch(m.Dir, layout.Table{
		Rows: rows, Columns: []layout.Column{{Name: "from", DType: layout.Int64}},
	})
	if err != nil {
		return err
	}
	from := layout.Values[int64](s.Column(0, layout.Random)).Data
	if rows == 0 {
		from = []int64{} // no row; nil would mean every row
	}
	if err := fill(from); err != nil {
		return errors.Join(err, s.Close())
	}
	err = m.scratch.Close()
	m.Rows, m.From, m.scratch = rows, from, s
	return err
}

// Materialize allocates From if it is nil, so that the caller can write to its entries.
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

// Close frees the scratch file of the map. It is safe on a nil map.
func (m *Map) Close() error {
	if m == nil {
		return nil
	}
	err := m.scratch.Close()
	m.From, m.scratch = nil, nil
	return err
}
