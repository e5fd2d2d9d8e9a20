package source

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

// Melted converts a source with one column per series into a source with one row per value, as
// pandas.melt does. Its rows are those of the first series, then those of the second, and so on.
// The item is the name of the series.
type Melted struct {
	Reader
	timeIndex int             // index of the time column in the source, -1 if there is none
	timeName  string          // "" if there is no time column
	series    []int           // indexes of the series in the source
	columns   []column.Column // of the source: the time, if there is one, then the series
	value     column.Want     // of the column of values
}

// Melt returns a reader that melts the wanted columns of r. names are the names of these columns.
// timeName is the name of the time column, "" if there is none.
//
// Melt returns an error if the name of a series is empty, ambiguous or not UTF-8, or if there is no
// series.
func Melt(r Reader, names []string, wants []column.Want, timeName string) (*Melted, error) {
	m := &Melted{Reader: r, timeIndex: -1, timeName: timeName}
	have := column.Counts(r.Names())
	for i, x := range wants {
		name := names[i]
		if !utf8.ValidString(name) {
			return nil, &loaderr.SourceError{
				Path: r.Path(), Text: name, Reason: "the name of a series is not UTF-8",
				Hint: loaderr.HintDamaged,
			}
		}
		if name == "" || have[name] > 1 {
			return nil, &loaderr.SourceError{
				Path: r.Path(), Column: name, Reason: "is the name of several series, or of none",
			}
		}
		if x.Role == layout.RoleTime {
			m.timeIndex = x.Index
		} else {
			m.series = append(m.series, x.Index)
		}
	}
	if len(m.series) == 0 {
		return nil, &loaderr.SourceError{
			Path: r.Path(), Reason: "has no series besides the time",
			Hint: "load it without `melt=true`",
		}
	}
	return m, nil
}

// Rows returns the number of rows of the source times the number of series.
func (m *Melted) Rows() int64 { return m.Reader.Rows() * int64(len(m.series)) }

// SourceRow returns the row of the source from which a row of m comes.
func (m *Melted) SourceRow(row int64) int64 { return row % m.Reader.Rows() }

// SourceRows returns the number of rows of the source.
func (m *Melted) SourceRows() int64 { return m.Reader.Rows() }

// Reshaped is a reader whose rows are not those of its source.
type Reshaped interface {
	Reader
	// SourceRow returns the row of the source from which a row of the reader comes.
	SourceRow(row int64) int64
	// SourceRows returns the number of rows of the source.
	SourceRows() int64
}

// Series is a reader of a format with one series a line, whose files name the item and time columns.
type Series interface {
	Reshaped
	// DefaultRoles returns the columns that are items, and the time, if no option names any; "" is none.
	DefaultRoles() (itemID []string, time string)
	// HintNames returns the hint for series that no column names.
	HintNames() string
}

// SeriesOf returns the reader of a format with one series a line, nil for a reader of another format.
func SeriesOf(r Reader) Series {
	if p, ok := r.(*partitioned); ok {
		r = p.Reader
	}
	s, _ := r.(Series)
	return s
}

// SourceRow returns the row of the file from which a row of r comes. The two differ if r is melted.
func SourceRow(r Reader, row int64) int64 {
	if m, ok := r.(Reshaped); ok {
		return m.SourceRow(row)
	}
	return row
}

// Line returns the line of the file from which a row of m comes, 0 if there are no lines.
func (m *Melted) Line(row int64) int64 { return m.Reader.Line(m.SourceRow(row)) }

// Names returns the names of the item column, the time column, if there is one, and the value
// column.
func (m *Melted) Names() []string {
	if m.timeIndex < 0 {
		return []string{column.MeltedItem, column.MeltedValue}
	}
	return []string{column.MeltedItem, m.timeName, column.MeltedValue}
}

// sourceWants returns the columns that m reads from the source: the time, if there is one, then the
// series.
func (m *Melted) sourceWants() []column.Want {
	var out []column.Want
	if m.timeIndex >= 0 {
		out = append(out, column.Want{Index: m.timeIndex, Role: layout.RoleTime})
	}
	for _, s := range m.series {
		x := m.value
		x.Index, x.Role, x.As = s, layout.RoleValue, column.MeltedValue
		out = append(out, x)
	}
	return out
}

// Describe returns the types of the wanted columns. It returns an error if the series have no
// common type.
func (m *Melted) Describe(w []column.Want) ([]column.Column, error) {
	for _, x := range w {
		if x.Index == len(m.Names())-1 {
			m.value = x
		}
	}
	var err error
	if m.columns, err = m.Reader.Describe(m.sourceWants()); err != nil {
		return nil, err
	}
	return m.resultColumns(w, m.columns)
}

// resultColumns returns the wanted columns of the result, given the columns of the source.
func (m *Melted) resultColumns(w []column.Want, columns []column.Column) ([]column.Column, error) {
	series := columns[len(columns)-len(m.series):]
	// a series of nulls has missing values of the type of the others
	value := series[max(0, slices.IndexFunc(series, func(c column.Column) bool {
		return !isNull(c)
	}))]
	for _, c := range series {
		if isNull(c) {
			continue
		}
		other, err := column.Unify(value, c)
		if err != nil {
			return nil, &loaderr.SourceError{
				Path: m.Path(), Column: c.Name,
				Reason: fmt.Sprintf("is %s, but series %q is %s",
					c.Describe(), value.Name, value.Describe()),
				Hint: seriesHint(series, column.CanBeText(value, c)),
			}
		}
		value = other
	}
	value.Name, value.As, value.NamedOnly, value.Calendar = column.MeltedValue, "", false, ""
	out := make([]column.Column, len(w))
	for i, x := range w {
		switch m.Names()[x.Index] {
		case column.MeltedItem:
			out[i] = column.Column{Name: column.MeltedItem, Kind: column.KindText}
		case column.MeltedValue:
			out[i] = value
		default:
			out[i] = columns[0]
		}
	}
	return out, nil
}

// seriesHint returns the hint for series without a common type. In a file with one series a row,
// the first column has the names of the series, and the others their values. canBeText states that
// all can be loaded as text.
func seriesHint(series []column.Column, canBeText bool) string {
	oneType := "name series of one type with `columns`"
	if canBeText {
		oneType += ", or " + column.HintText(series[0])
	}
	if series[0].Kind == column.KindText && !slices.ContainsFunc(series[1:],
		func(c column.Column) bool { return !c.IsNumber() }) {
		return "if each row is a series, load it with `melt=\"rows\"`; otherwise " + oneType
	}
	return oneType
}

// isNull reports whether the type itself of a column says that all its values are missing.
func isNull(c column.Column) bool { return c.Kind == column.KindUnknown && !c.Inferred }

// ReadRows makes the source write each series to its range of rows of the value column. It writes
// the names of the series, and copies the times of the first series to the others.
func (m *Melted) ReadRows(ctx context.Context, to []Target, meter *progress.Meter) error {
	n := m.Reader.Rows()
	for _, t := range to {
		if t.Role == layout.RoleItemID {
			m.nameItems(t, n)
		}
	}
	sourceTargets := make([]Target, 0, 1+len(m.series))
	for i, x := range m.sourceWants() {
		t := Target{Want: x}
		for _, target := range to {
			if target.Role == x.Role {
				t.Column, t.Dest, t.Row0, t.Words = target.Column, target.Dest,
					target.Row0, target.Words
				t.Capitals = target.Capitals
			}
		}
		t.Name, t.Column.As = m.columns[i].Name, x.As
		if x.Role == layout.RoleValue {
			t.Row0 += n * int64(len(sourceTargets)-(len(m.columns)-len(m.series)))
		}
		sourceTargets = append(sourceTargets, t)
	}
	err := m.Reader.ReadRows(ctx, sourceTargets, meter)
	if wider := (*WidenError)(nil); errors.As(err, &wider) {
		wants := make([]column.Want, len(to))
		for i, t := range to {
			wants[i] = t.Want
		}
		columns, err := m.resultColumns(wants, wider.Columns)
		if err != nil {
			return err
		}
		return &WidenError{columns}
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

// nameItems writes the name of each series to the item column, in the rows of that series. n is the
// number of rows of a series.
func (m *Melted) nameItems(t Target, n int64) {
	codes := make([]int32, min(column.BlockRows, n))
	for s := range m.series {
		code := t.Words.Code([]byte(m.columns[len(m.columns)-len(m.series)+s].Name))
		for i := range codes {
			codes[i] = code
		}
		for row := int64(0); row < n; row += column.BlockRows {
			column.Write(t.Dest, t.Row0+int64(s)*n+row, codes[:min(column.BlockRows, n-row)])
		}
	}
}

// repeatTimes copies the times of the first series to the others. n is the number of rows of a
// series.
func (m *Melted) repeatTimes(t Target, n int64) {
	times := layout.Values[int64](t.Dest.ColumnWriter)
	for s := 1; s < len(m.series); s++ {
		if times.Contiguous() {
			copy(times.Data[t.Row0+int64(s)*n:], times.Data[t.Row0:t.Row0+n])
			continue
		}
		for row := range n {
			copy(times.Row(t.Row0+int64(s)*n+row), times.Row(t.Row0+row))
		}
	}
}
