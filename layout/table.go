package layout

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tensorcache/tensorcache/internal/arrowfile"
)

// Role is the purpose of a column.
type Role string

// The roles of columns.
const (
	RoleItemID Role = "item_id"
	RoleTime   Role = "time"
	RoleValue  Role = "value"
)

// The two layouts of value columns.
const (
	Columns = "columns" // each column is contiguous
	Packed  = "packed"  // numeric columns of one dtype are interleaved, row by row
)

// Column describes one column of a new generation.
type Column struct {
	Name  string
	Role  Role
	DType DType
	// Width is the number of features of a column of shape [rows, n], or 0 for a plain column of
	// shape [rows].
	Width int64
	// Unit is the unit of timestamps and durations: s, ms, us or ns. Zone is the time zone of
	// timestamps.
	Unit, Zone string
	// NamedOnly is true if windows include the column only where a spec names it. It has an effect
	// on numeric value columns only: see [ManifestColumn.InDefaultWindows].
	NamedOnly bool
	// PartOfFilled is that of [ManifestColumn]. It has an effect on value columns only.
	PartOfFilled *PartOf
}

// values returns the number of values of one row.
func (c Column) values() int64 { return max(c.Width, 1) }

// Table describes a new generation.
type Table struct {
	Layout  string // Columns or Packed; "" is Columns
	Rows    int64
	Columns []Column
}

// maxBytes is the largest size of a data file: far more than any machine's memory, and far from an
// integer overflow.
const maxBytes = math.MaxInt64 / 4

// check returns an error that wraps ErrSchema if the format cannot store the table.
func (t *Table) check() error {
	if t.Layout == "" {
		t.Layout = Columns
	}
	if t.Layout != Columns && t.Layout != Packed {
		return fmt.Errorf("%w: layout %q is neither %q nor %q", ErrSchema, t.Layout,
			Columns, Packed)
	}
	if t.Rows < 0 || len(t.Columns) == 0 {
		return fmt.Errorf("%w: %d rows of %d columns", ErrSchema, t.Rows, len(t.Columns))
	}
	seen := make(map[string]bool, len(t.Columns))
	row := int64(0)
	for _, c := range t.Columns {
		if seen[c.Name] {
			return fmt.Errorf("%w: two columns are named %q", ErrSchema, c.Name)
		}
		seen[c.Name] = true
		if c.DType.Size() == 0 {
			return fmt.Errorf("%w: column %q: dtype %q is not known", ErrSchema, c.Name, c.DType)
		}
		if _, ok := timeUnits[c.Unit]; c.DType.HasUnit() && !ok {
			return fmt.Errorf("%w: column %q: time unit %q is none of s, ms, us, ns", ErrSchema,
				c.Name, c.Unit)
		}
		if c.Width < 0 || c.Width > math.MaxInt32 {
			return fmt.Errorf("%w: column %q: %d features a row", ErrSchema, c.Name, c.Width)
		}
		row += c.values() * c.DType.Size()
	}
	if t.Rows > maxBytes/row {
		return fmt.Errorf("%w: %d rows of %d bytes do not fit any file", ErrSchema, t.Rows, row)
	}
	return nil
}

// Strided is a column as values. The values of row i are Data[i·Step] to Data[i·Step+Width-1].
type Strided[T any] struct {
	Data        []T
	Step, Width int64
	Rows        int64
}

// Row returns the values of one row.
func (s Strided[T]) Row(i int64) []T {
	return s.Data[i*s.Step : i*s.Step+s.Width : i*s.Step+s.Width]
}

// Contiguous reports whether Data is the whole column without gaps.
func (s Strided[T]) Contiguous() bool { return s.Step == s.Width }

// Keys of metadata in data.arrow.
const (
	metaDType   = "tensorcache.dtype"
	metaVocab   = "tensorcache.vocab"
	metaColumns = "tensorcache.columns"
)

// field is one Arrow field of data.arrow and its columns, which are interleaved.
type field struct {
	name    string
	dtype   DType
	columns []int // positions in Table.Columns
	width   int64 // values of a row, over all its columns
	list    bool
	arrow   arrow.Field
}

// fields assigns the columns to Arrow fields.
func (t Table) fields() []field {
	var out []field
	packed := map[DType]int{}
	for i, c := range t.Columns {
		if t.Layout == Packed && c.Role == RoleValue && c.DType.IsNumeric() {
			at, ok := packed[c.DType]
			if !ok {
				at = len(out)
				packed[c.DType] = at
				out = append(out,
					field{name: "packed_" + string(c.DType), dtype: c.DType, list: true})
			}
			out[at].columns = append(out[at].columns, i)
			out[at].width += c.values()
			continue
		}
		out = append(out, field{name: c.Name, dtype: c.DType, columns: []int{i}, width: c.values(),
			list: c.Width > 0})
	}
	for i := range out {
		out[i].arrow = out[i].describe(t)
	}
	return out
}

// describe returns the Arrow field. Its metadata has what Arrow's types do not express.
func (f field) describe(t Table) arrow.Field {
	first := t.Columns[f.columns[0]]
	var keys, values []string
	add := func(k, v string) { keys, values = append(keys, k), append(values, v) }
	switch f.dtype {
	case Bool:
		add(metaDType, string(Bool))
	case Text:
		add(metaVocab, VocabFile(first.Name))
	}
	if f.name != first.Name || len(f.columns) > 1 {
		names := make([]string, len(f.columns))
		for i, c := range f.columns {
			names[i] = t.Columns[c].Name
		}
		list, _ := json.Marshal(names) // never fails for strings
		add(metaColumns, string(list))
	}
	typ := arrowType(f.dtype, first.Unit, first.Zone)
	if f.list {
		typ = arrow.FixedSizeListOfNonNullable(int32(f.width), typ)
	}
	return arrow.Field{Name: f.name, Type: typ, Metadata: arrow.NewMetadata(keys, values)}
}

// placeholderArray returns an array of the field whose values are in the placeholder.
func placeholderArray(f field, rows int64, placeholder []byte) arrow.Array {
	n := rows * f.width
	body := memory.NewBufferBytes(placeholder[:arrowfile.Align(n*f.dtype.Size())])
	if !f.list {
		return array.MakeFromData(
			array.NewData(f.arrow.Type, int(rows), []*memory.Buffer{nil, body}, nil, 0, 0))
	}
	elem := f.arrow.Type.(*arrow.FixedSizeListType).Elem()
	child := array.NewData(elem, int(n), []*memory.Buffer{nil, body}, nil, 0, 0)
	return array.MakeFromData(array.NewData(f.arrow.Type, int(rows), []*memory.Buffer{nil},
		[]arrow.ArrayData{child}, 0, 0))
}
