package source

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/layout"
)

// RowMelter is a reader that can itself read a source with one series per row as one with one value
// per row.
type RowMelter interface {
	Reader
	// MeltRows returns a reader with the columns that name the series, and a column of values.
	// items and series are the indexes of the columns. isDefault is true if items is the first
	// column because no option names one. Rows may be called after Describe only.
	MeltRows(items, series []int, isDefault bool) Reshaped
}

// MeltedRows converts a source with one series per row into a source with one row per value. Its
// rows are the values of the first series, then those of the second, and so on. A series ends with
// its last value that is not missing.
//
// The values of a column of the source go to places that the other columns decide, so that Describe
// reads the whole source into scratch. The series are read from there.
type MeltedRows struct {
	Reader
	items, series []int // indexes of the columns in the source
	isDefault     bool
	dir           string

	scratch  *column.Scratch
	columns  []column.Column            // of the source: items, then series
	words    map[int]*column.Dictionary // of items that are text
	offsets  []int64                    // of the first value of each row, then the number of values
	whole    bool                       // no value within a series is missing
	floats   []layout.Strided[float64]  // the series, in the one of these that has their dtype
	halves   []layout.Strided[layout.Half]
	singles  []layout.Strided[float32]
	integers []layout.Strided[int64]
}

// MeltRows returns a reader that melts the rows of r; see [RowMelter]. dir is the directory of
// scratch files.
func MeltRows(r Reader, items, series []int, isDefault bool, dir string) *MeltedRows {
	return &MeltedRows{Reader: r, items: items, series: series, isDefault: isDefault, dir: dir}
}

// CheckNames returns an error if the first column of a source cannot name the series. as is its
// type as a column of values.
func CheckNames(path, name string, as column.Column) error {
	if as.Kind == column.KindText {
		return nil
	}
	return &loaderr.SourceError{
		Path: path, Column: name,
		Reason: fmt.Sprintf("the first column is %s, want the names of the series as text",
			as.Describe()),
		Hint: "say which column names the series with `item_id`",
	}
}

// CloseScratch releases scratch. The rows cannot be read afterwards.
func (m *MeltedRows) CloseScratch() error {
	err := m.scratch.Close()
	m.scratch = nil
	return err
}

// Names returns the names of the columns that name the series, and of the column of values.
func (m *MeltedRows) Names() []string {
	names := m.Reader.Names()
	var out []string
	for _, i := range m.items {
		out = append(out, names[i])
	}
	return append(out, column.MeltedValue)
}

// Rows returns the number of values. It is known after Describe.
func (m *MeltedRows) Rows() int64 { return m.offsets[len(m.offsets)-1] }

// SourceRows returns the number of rows of the source.
func (m *MeltedRows) SourceRows() int64 { return m.Reader.Rows() }

// SourceRow returns the row of the source with a value.
func (m *MeltedRows) SourceRow(value int64) int64 {
	return int64(sort.Search(len(m.offsets)-1, func(i int) bool { return m.offsets[i+1] > value }))
}

// Line returns the line of the file with a value, 0 if there are no lines.
func (m *MeltedRows) Line(value int64) int64 { return m.Reader.Line(m.SourceRow(value)) }

// Describe reads the source, and returns the types of the wanted columns.
func (m *MeltedRows) Describe(w []column.Want) ([]column.Column, error) {
	if m.isDefault {
		first, err := m.Reader.Describe([]column.Want{{Index: m.items[0], Role: layout.RoleValue}})
		if err != nil {
			return nil, err
		}
		if err := CheckNames(m.Path(), first[0].Name, first[0]); err != nil {
			return nil, err
		}
	}
	wants := make([]column.Want, 0, len(m.items)+len(m.series))
	for _, i := range m.items {
		wants = append(wants, column.Want{Index: i, Role: layout.RoleItemID})
	}
	for _, x := range w {
		if x.Index < len(m.items) {
			wants[x.Index].Text = x.Text
		}
	}
	for _, i := range m.series {
		wants = append(wants, column.Want{Index: i, Role: layout.RoleValue})
	}
	var err error
	if m.columns, err = m.Reader.Describe(wants); err != nil {
		return nil, err
	}
	for i, x := range wants {
		m.columns[i] = m.columns[i].InRole(x.Role)
	}
	for wider := (*WidenError)(nil); ; m.columns = wider.Columns {
		if err = m.read(wants); !errors.As(err, &wider) {
			break
		}
		if err := m.CloseScratch(); err != nil {
			return nil, err
		}
	}
	if err == nil {
		err = m.measure()
	}
	if err != nil {
		return nil, err
	}
	out := make([]column.Column, len(w))
	for i, x := range w {
		if x.Index < len(m.items) {
			out[i] = m.columns[x.Index]
		} else {
			out[i] = m.value()
		}
	}
	return out, nil
}

// values returns the columns of the series.
func (m *MeltedRows) values() []column.Column { return m.columns[len(m.items):] }

// value returns the column of values. Integers of which some are missing become float64.
func (m *MeltedRows) value() column.Column {
	v := column.Column{Name: column.MeltedValue, Kind: m.kind()}
	if v.Kind.IsInteger() && !m.whole {
		v.Kind = column.KindFloat64
	}
	v.Inferred = m.values()[0].Inferred
	v.Decimal = slices.ContainsFunc(m.values(), func(c column.Column) bool { return c.Decimal })
	return v
}

// kind returns the kind that holds the values of all series, but for missing integers.
func (m *MeltedRows) kind() column.Kind {
	kind := column.KindUnknown
	for _, c := range m.values() {
		switch k := c.Kind; {
		case k == column.KindUnknown && c.Inferred: // all values are missing
			kind = column.KindFloat64
		case k == column.KindUnknown || k == kind:
		case kind == column.KindUnknown:
			kind = k
		case kind.IsInteger() && k.IsInteger() && kind != column.KindUint64 &&
			k != column.KindUint64:
			kind = column.KindInt64
		default:
			kind = column.KindFloat64
		}
	}
	if kind == column.KindUnknown {
		return column.KindFloat64
	}
	return kind
}

// read reads the source into scratch.
func (m *MeltedRows) read(wants []column.Want) error {
	for i, c := range m.columns {
		if wants[i].Role == layout.RoleItemID {
			if err := c.CheckRole(m.Path(), layout.RoleItemID); err != nil {
				return err
			}
		} else if !c.IsNumber() || c.Width > 0 {
			return &loaderr.SourceError{
				Path: m.Path(), Column: c.Name,
				Reason: fmt.Sprintf("is %s, but the values of a series are numbers", c.Describe()),
				Hint: "name the columns of the values with `columns`, and those that name the " +
					"series with `item_id`",
			}
		}
	}
	// Missing values need floats, which hold the integers up to 2^53. Text files have none here: a
	// missing value has widened its column.
	stored := m.kind().DType()
	if !stored.IsFloat() && !m.values()[0].Inferred {
		stored = layout.Float64
	}
	t := layout.Table{Rows: m.Reader.Rows()}
	m.words = map[int]*column.Dictionary{}
	for i, c := range m.columns {
		dtype := stored
		if i < len(m.items) {
			if dtype = layout.Int64; c.Kind == column.KindText {
				dtype, m.words[i] = layout.Text, column.NewDictionary(nil)
			}
		}
		t.Columns = append(t.Columns,
			layout.Column{Name: c.Name, Role: wants[i].Role, DType: dtype})
	}
	var err error
	if m.scratch, err = column.NewScratch(m.dir, t); err != nil {
		return err
	}
	to := make([]Target, len(wants))
	for i, x := range wants {
		to[i] = Target{Want: x, Column: m.columns[i], Words: m.words[i],
			Dest: column.Sink{ColumnWriter: m.scratch.Column(i, layout.Random)}}
		if m.columns[i].Kind.IsInteger() && x.Role == layout.RoleValue {
			to[i].Dest.Loss = &column.Loss{} // refuses integers that are no float64
		}
	}
	err = m.Reader.ReadRows(context.Background(), to, &progress.Meter{})
	if e := (*loaderr.SourceError)(nil); errors.As(err, &e) &&
		(e.Hint == column.HintWider || e.Hint == column.HintIntegers) {
		e.Hint = "convert the values to floats: with `melt=\"rows\"` integers must lie between " +
			"-2^53 and 2^53, except in CSV and TSV files"
	}
	return err
}

// measure finds the length of each series. It refuses series without values, and two rows, one
// after the other, with the same name.
func (m *MeltedRows) measure() error {
	rows := m.Reader.Rows()
	lengths := make([]int64, rows)
	m.floats, m.singles, m.halves, m.integers = nil, nil, nil, nil
	missing := int64(0)
	for i := range m.series {
		dest := m.scratch.Column(len(m.items)+i, layout.Random)
		switch dest.DType {
		case layout.Int64:
			m.integers = append(m.integers, layout.Values[int64](dest))
			lengthen(lengths, m.integers[i], i, func(int64) bool { return false })
		case layout.Float64:
			m.floats = append(m.floats, layout.Values[float64](dest))
			missing += lengthen(lengths, m.floats[i], i, func(v float64) bool { return v != v })
		case layout.Float32:
			m.singles = append(m.singles, layout.Values[float32](dest))
			missing += lengthen(lengths, m.singles[i], i, func(v float32) bool { return v != v })
		case layout.Float16:
			m.halves = append(m.halves, layout.Values[layout.Half](dest))
			missing += lengthen(lengths, m.halves[i], i,
				func(h layout.Half) bool { return math.IsNaN(float64(h.Float32())) })
		}
	}
	m.offsets = make([]int64, rows+1)
	for row, n := range lengths {
		if n == 0 {
			return &loaderr.SourceError{
				Path: m.Path(), Row: int64(row) + 1, Line: m.Reader.Line(int64(row)),
				Reason: "the series has no values",
				Hint:   "leave the row out, or name the columns of the values with `columns`",
			}
		}
		m.offsets[row+1] = m.offsets[row] + n
		missing -= int64(len(m.series)) - n
	}
	m.whole = missing == 0
	return m.checkNames()
}

// lengthen sets the length of each series with a value in column i to i+1. It returns the number of
// missing values.
func lengthen[T layout.Native](
	lengths []int64, values layout.Strided[T], i int, isMissing func(T) bool,
) (missing int64) {
	for row := range lengths {
		if isMissing(values.Data[int64(row)*values.Step]) {
			missing++
		} else {
			lengths[row] = int64(i) + 1
		}
	}
	return missing
}

// checkNames refuses two rows, one after the other, with the same name: their values would be one
// series.
func (m *MeltedRows) checkNames() error {
	names := make([]func(row int64) any, len(m.items))
	for i := range m.items {
		dest := m.scratch.Column(i, layout.Random)
		if d := m.words[i]; d != nil {
			codes := layout.Values[int32](dest)
			names[i] = func(row int64) any { return d.Words[codes.Data[row*codes.Step]] }
			continue
		}
		numbers := layout.Values[int64](dest)
		names[i] = func(row int64) any { return numbers.Data[row*numbers.Step] }
	}
	for row := int64(1); row < m.Reader.Rows(); row++ {
		same := !slices.ContainsFunc(names, func(name func(int64) any) bool {
			return name(row) != name(row-1)
		})
		if same {
			return SameNames(m.Path(), m.columns[0].Name, fmt.Sprint(names[0](row)), row,
				m.Reader.Line(row))
		}
	}
	return nil
}

// HintSeriesNames is the hint for two series of one name.
const HintSeriesNames = "give each series a name of its own, or say which columns name it with `item_id`"

// SameNames returns the error for a row, from 0, whose series has the name of the row before.
func SameNames(path, column, name string, row, line int64) error {
	return &loaderr.SourceError{
		Path: path, Row: row + 1, Line: line, Column: column, Text: name,
		Reason: "names the series of the row before, too",
		Hint:   HintSeriesNames,
	}
}
