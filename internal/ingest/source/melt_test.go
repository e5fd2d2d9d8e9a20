package source

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/layout"
)

// seriesWants returns the wanted columns of newReader for Melt: the two series, and the time
// between them.
func seriesWants() (names []string, wants []column.Want) {
	return []string{"a", "t", "b"}, []column.Want{
		{Index: 0, Role: layout.RoleValue},
		{Index: 1, Role: layout.RoleTime},
		{Index: 2, Role: layout.RoleValue},
	}
}

// resultWants are the columns of a melted source with a time column.
var resultWants = []column.Want{
	{Index: 0, Role: layout.RoleItemID}, {Index: 1, Role: layout.RoleTime},
	{Index: 2, Role: layout.RoleValue},
}

func TestMeltReturnsTheRowsOfEachSeriesInTurn(t *testing.T) {
	r := newReader()
	names, wants := seriesWants()
	m, err := Melt(r, names, wants, "t")
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Names(); !slices.Equal(got, []string{column.MeltedItem, "t", column.MeltedValue}) {
		t.Errorf("columns %v", got)
	}
	if m.Rows() != 6 {
		t.Errorf("%d rows, want 6", m.Rows())
	}
	columns, err := m.Describe(resultWants)
	if err != nil {
		t.Fatal(err)
	}
	kinds := []column.Kind{columns[0].Kind, columns[1].Kind, columns[2].Kind}
	if !slices.Equal(kinds, []column.Kind{column.KindText, column.KindTime, column.KindInt64}) {
		t.Errorf("kinds %v", kinds)
	}

	// The destination has one more row before those of the source.
	to := destination(t, 7,
		layout.Column{Name: column.MeltedItem, Role: layout.RoleItemID, DType: layout.Text},
		layout.Column{Name: "t", Role: layout.RoleTime, DType: layout.Timestamp, Unit: "s"},
		layout.Column{Name: column.MeltedValue, Role: layout.RoleValue, DType: layout.Float64})
	for i := range to {
		to[i].Row0 = 1
	}
	if err := m.ReadRows(context.Background(), to, &progress.Meter{}); err != nil {
		t.Fatal(err)
	}
	var items []string
	for _, code := range valuesOf[int32](to[0])[1:] {
		items = append(items, to[0].Words.Words[code])
	}
	if !slices.Equal(items, []string{"a", "a", "a", "b", "b", "b"}) {
		t.Errorf("items %v", items)
	}
	if got := valuesOf[int64](to[1]); !slices.Equal(got, []int64{0, 10, 20, 30, 10, 20, 30}) {
		t.Errorf("times %v", got)
	}
	if got := valuesOf[float64](to[2]); !slices.Equal(got, []float64{0, 1, 2, 3, 4, 5, 6}) {
		t.Errorf("values %v", got)
	}
	for row, want := range []int64{0, 1, 2, 0, 1, 2} {
		if got := SourceRow(m, int64(row)); got != want {
			t.Errorf("row %d comes from row %d, want %d", row, got, want)
		}
		if got := m.Line(int64(row)); got != r.Line(want) {
			t.Errorf("row %d comes from line %d, want %d", row, got, r.Line(want))
		}
	}
	if got := SourceRow(r, 4); got != 4 {
		t.Errorf("row 4 of a reader that is not melted comes from row %d", got)
	}
}

func TestMeltWithoutATimeColumn(t *testing.T) {
	m, err := Melt(newReader(), []string{"b"},
		[]column.Want{{Index: 2, Role: layout.RoleValue}}, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Names(); !slices.Equal(got, []string{column.MeltedItem, column.MeltedValue}) {
		t.Errorf("columns %v", got)
	}
	wants := []column.Want{{Index: 0, Role: layout.RoleItemID}, {Index: 1, Role: layout.RoleValue}}
	if _, err := m.Describe(wants); err != nil {
		t.Fatal(err)
	}
	to := destination(t, 3,
		layout.Column{Name: column.MeltedItem, Role: layout.RoleItemID, DType: layout.Text},
		layout.Column{Name: column.MeltedValue, Role: layout.RoleValue, DType: layout.Int64})
	if err := m.ReadRows(context.Background(), to, &progress.Meter{}); err != nil {
		t.Fatal(err)
	}
	if got := valuesOf[int64](to[1]); !slices.Equal(got, []int64{4, 5, 6}) {
		t.Errorf("values %v", got)
	}
}

func TestMeltRefusesSeriesWithoutAName(t *testing.T) {
	for _, c := range []struct {
		fault, want, hint string
		columns           []string // of the source
		names             []string // that are melted
		role              layout.Role
	}{
		{"empty", "several series, or of none", "", []string{""}, []string{""}, layout.RoleValue},
		{"twice", "several series, or of none", "", []string{"a", "a"}, []string{"a"},
			layout.RoleValue},
		{"not UTF-8", "is not UTF-8", "damaged", []string{"\xff"}, []string{"\xff"},
			layout.RoleValue},
		{"time only", "no series besides the time", "`melt", []string{"t"}, []string{"t"},
			layout.RoleTime},
	} {
		r := &memoryReader{}
		for _, name := range c.columns {
			r.columns = append(r.columns, column.Column{Name: name})
		}
		_, err := Melt(r, c.names, []column.Want{{Index: 0, Role: c.role}}, "t")
		t.Run(c.fault, func(t *testing.T) { loadtest.Refused(t, err, c.want, c.hint) })
	}
}

func TestMeltRefusesSeriesOfDifferentTypes(t *testing.T) {
	r := newReader()
	r.columns[2] = column.Column{Name: "b", Kind: column.KindText}
	names, wants := seriesWants()
	m, err := Melt(r, names, wants, "t")
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Describe(resultWants)
	loadtest.Refused(t, err, `column "b": is text, but series "a" is int64`, "one type")
}

func TestWideningASeriesWidensTheMeltedColumn(t *testing.T) {
	r := newReader()
	names, wants := seriesWants()
	m, err := Melt(r, names, wants, "t")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Describe(resultWants); err != nil {
		t.Fatal(err)
	}
	r.fillErr = &WidenError{[]column.Column{ // in the order in which Melted reads the source
		r.columns[1], r.columns[0], {Name: "b", Kind: column.KindFloat64, Inferred: true},
	}}
	to := destination(t, 6,
		layout.Column{Name: column.MeltedItem, Role: layout.RoleItemID, DType: layout.Text},
		layout.Column{Name: "t", Role: layout.RoleTime, DType: layout.Timestamp, Unit: "s"},
		layout.Column{Name: column.MeltedValue, Role: layout.RoleValue, DType: layout.Int64})
	err = m.ReadRows(context.Background(), to, &progress.Meter{})
	var wider *WidenError
	if !errors.As(err, &wider) {
		t.Fatalf("%v, want a WidenError", err)
	}
	want := []column.Kind{column.KindText, column.KindTime, column.KindFloat64}
	for i, c := range wider.Columns {
		if c.Kind != want[i] {
			t.Errorf("column %d becomes %s, want %s", i, c.Kind, want[i])
		}
	}
}
