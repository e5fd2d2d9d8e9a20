package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/layout"
)

// The columns of what was melted, besides the time.
const (
	meltItem  = "item"
	meltValue = "value"
)

// melted makes of a source with one column a series a source with one row a value, as pandas.melt does: the rows of the first
// series, then those of the second. The item is the series' name.
type melted struct {
	reader
	time    int // the place of the time column in the source, -1 without one
	timed   string
	series  []int
	columns []column.Column // of the source: the time, if there is one, and the series
}

// newMelted melts the wanted columns of r, which have the names given; timed is the name of the time
// column, "" without one.
func newMelted(r reader, names []string, wants []column.Want, timed string) (*melted, error) {
	m := &melted{reader: r, time: -1, timed: timed}
	for i, x := range wants {
		name := names[i]
		if !utf8.ValidString(name) {
			return nil, &loaderr.SourceError{Path: r.path(), Text: name, Reason: "the name of a series is not UTF-8", Hint: loaderr.HintDamaged}
		}
		if n := slices.Index(r.names(), name); name == "" || slices.Contains(r.names()[n+1:], name) {
			return nil, &loaderr.SourceError{Path: r.path(), Column: name, Reason: "is the name of several series, or of none"}
		}
		if x.Role == layout.RoleTime {
			m.time = x.Index
		} else {
			m.series = append(m.series, x.Index)
		}
	}
	if len(m.series) == 0 {
		return nil, &loaderr.SourceError{Path: r.path(), Reason: "holds no series beside the time", Hint: "load it without --melt"}
	}
	return m, nil
}

func (m *melted) rows() int64 { return m.reader.rows() * int64(len(m.series)) }

// sourceRow returns the row of the source that a row of m comes from.
func (m *melted) sourceRow(row int64) int64 { return row % m.reader.rows() }

// sourceRow returns the row of the file that a row of r comes from: they differ where r is melted.
func sourceRow(r reader, row int64) int64 {
	if m, ok := r.(*melted); ok {
		return m.sourceRow(row)
	}
	return row
}

func (m *melted) line(row int64) int64 { return m.reader.line(m.sourceRow(row)) }

func (m *melted) names() []string {
	if m.time < 0 {
		return []string{meltItem, meltValue}
	}
	return []string{meltItem, m.timed, meltValue}
}

// inner are the wants of the source: the time first, if there is one.
func (m *melted) inner() []column.Want {
	var out []column.Want
	if m.time >= 0 {
		out = append(out, column.Want{Index: m.time, Role: layout.RoleTime, Text: false})
	}
	for _, s := range m.series {
		out = append(out, column.Want{Index: s, Role: layout.RoleValue, Text: false})
	}
	return out
}

// describe finds the type that all series have.
func (m *melted) describe(w []column.Want) ([]column.Column, error) {
	var err error
	if m.columns, err = m.reader.describe(m.inner()); err != nil {
		return nil, err
	}
	return m.outer(w, m.columns)
}

// outer turns columns of the source into those of the result.
func (m *melted) outer(w []column.Want, columns []column.Column) ([]column.Column, error) {
	series := columns[len(columns)-len(m.series):]
	value := series[0]
	for _, c := range series[1:] {
		other, err := column.Unify(value, c)
		if err != nil {
			return nil, &loaderr.SourceError{Path: m.path(), Column: c.Name, Reason: fmt.Sprintf("is %s, but series %q is %s", c.Describe(), series[0].Name, value.Describe()), Hint: "name series of one type with --columns"}
		}
		value = other
	}
	value.Name = meltValue
	out := make([]column.Column, len(w))
	for i, x := range w {
		switch m.names()[x.Index] {
		case meltItem:
			out[i] = column.Column{Name: meltItem, Kind: column.KindText}
		case meltValue:
			out[i] = value
		default:
			out[i] = columns[0]
		}
	}
	return out, nil
}

// fill lets the source write each series into its part of the one column.
func (m *melted) fill(ctx context.Context, to []target, meter *progress.Meter) error {
	n := m.reader.rows()
	for _, t := range to {
		if t.Role == layout.RoleItemID {
			m.nameItems(t, n)
		}
	}
	inner := make([]target, 0, 1+len(m.series))
	for i, x := range m.inner() {
		t := target{Want: x}
		for _, o := range to {
			if o.Role == x.Role {
				t.Column, t.dest, t.row0, t.dict = o.Column, o.dest, o.row0, o.dict
			}
		}
		t.Name = m.columns[i].Name
		if x.Role == layout.RoleValue {
			t.row0 += n * int64(len(inner)-(len(m.columns)-len(m.series)))
		}
		inner = append(inner, t)
	}
	err := m.reader.fill(ctx, inner, meter)
	if wider := (*widenError)(nil); errors.As(err, &wider) {
		wants := make([]column.Want, len(to))
		for i, t := range to {
			wants[i] = t.Want
		}
		columns, err := m.outer(wants, wider.columns)
		if err != nil {
			return err
		}
		return &widenError{columns}
	}
	if err != nil {
		return err
	}
	for _, t := range to {
		if t.Role == layout.RoleTime {
			m.repeatTimes(t, n)
		}
	}
	return nil
}

// nameItems writes the name of each series into its rows.
func (m *melted) nameItems(t target, n int64) {
	codes := make([]int32, column.TileRows)
	for s := range m.series {
		code := t.dict.Code([]byte(m.columns[len(m.columns)-len(m.series)+s].Name))
		for i := range codes {
			codes[i] = code
		}
		for row := int64(0); row < n; row += column.TileRows {
			column.Put(t.dest, t.row0+int64(s)*n+row, codes[:min(column.TileRows, n-row)])
		}
	}
}

// repeatTimes copies the times of the first series to the others.
func (m *melted) repeatTimes(t target, n int64) {
	times := layout.Values[int64](t.dest.Dest)
	for s := 1; s < len(m.series); s++ {
		if times.Contiguous() {
			copy(times.Data[t.row0+int64(s)*n:], times.Data[t.row0:t.row0+n])
			continue
		}
		for row := range n {
			copy(times.Row(t.row0+int64(s)*n+row), times.Row(t.row0+row))
		}
	}
}
