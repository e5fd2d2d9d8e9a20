package source

import (
	"context"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/layout"
)

// memoryReader is a Reader of columns in memory.
type memoryReader struct {
	columns []column.Column
	values  [][]int64 // by column
	fillErr error
}

func (m *memoryReader) Path() string         { return "x.csv" }
func (m *memoryReader) Rows() int64          { return int64(len(m.values[0])) }
func (m *memoryReader) Line(row int64) int64 { return row + 2 } // after a header
func (m *memoryReader) Close() error         { return nil }

func (m *memoryReader) Names() (out []string) {
	for _, c := range m.columns {
		out = append(out, c.Name)
	}
	return out
}

func (m *memoryReader) Describe(w []column.Want) (out []column.Column, err error) {
	for _, x := range w {
		out = append(out, m.columns[x.Index])
	}
	return out, nil
}

func (m *memoryReader) ReadRows(_ context.Context, to []Target, meter *progress.Meter) error {
	for _, t := range to {
		column.Write(t.Dest, t.Row0, m.values[t.Index])
	}
	meter.Rows.Add(m.Rows())
	return m.fillErr
}

// groupedReader is a memoryReader in which each row is a row group.
type groupedReader struct {
	*memoryReader
	skipped []bool
}

func (g *groupedReader) GroupRows() []int64 { return slices.Repeat([]int64{1}, int(g.Rows())) }

func (g *groupedReader) Bounds(
	index, group int, _ column.Column,
) (least, most any, ok bool) {
	v := g.values[index][group]
	return v, v, true
}

func (g *groupedReader) Without(skip []bool) Reader { return &groupedReader{g.memoryReader, skip} }

// newReader returns a reader of a time column t and of two series, a and b, with 3 rows.
func newReader() *memoryReader {
	return &memoryReader{
		columns: []column.Column{
			{Name: "a", Kind: column.KindInt64, Inferred: true},
			{Name: "t", Kind: column.KindTime, Unit: "s"},
			{Name: "b", Kind: column.KindInt64, Inferred: true},
		},
		values: [][]int64{{1, 2, 3}, {10, 20, 30}, {4, 5, 6}},
	}
}

// destination creates a table of rows and returns one target per column, in the order of columns.
func destination(t *testing.T, rows int64, columns ...layout.Column) []Target {
	t.Helper()
	s, err := column.NewScratch(t.TempDir(), layout.Table{Rows: rows, Columns: columns})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	var out []Target
	for i, c := range columns {
		out = append(out, Target{
			Want:   column.Want{Index: i, Role: c.Role},
			Column: column.Column{Name: c.Name},
			Dest:   column.Sink{ColumnWriter: s.Column(i, layout.Random)},
			Words:  column.NewDictionary(nil),
		})
	}
	return out
}

// valuesOf returns the values of a target of shape [rows].
func valuesOf[T layout.Native](t Target) (out []T) {
	v := layout.Values[T](t.Dest.ColumnWriter)
	for row := range v.Rows {
		out = append(out, v.Row(row)...)
	}
	return out
}
