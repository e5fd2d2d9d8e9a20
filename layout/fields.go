package layout

import (
	"encoding/json"

	"github.com/apache/arrow/go/v15/arrow"
)

// Keys of metadata in data.arrow.
const (
	metaPad     = "tensorcache.pad"
	metaDType   = "tensorcache.dtype"
	metaVocab   = "tensorcache.vocab"
	metaColumns = "tensorcache.columns"
)

// field is one Arrow field of data.arrow and the columns that it holds, interleaved.
type field struct {
	name    string
	dtype   DType
	columns []int // positions in Table.Columns
	width   int64 // values of a row, over all its columns
	list    bool
	arrow   arrow.Field
}

// fields decides which columns share an Arrow field.
func (t Table) fields() []field {
	var out []field
	packed := map[DType]int{}
	for i, c := range t.Columns {
		if t.Layout == Packed && c.Role == RoleValue && c.DType.IsNumeric() {
			at, ok := packed[c.DType]
			if !ok {
				at = len(out)
				packed[c.DType] = at
				out = append(out, field{name: "packed_" + string(c.DType), dtype: c.DType, list: true})
			}
			out[at].columns = append(out[at].columns, i)
			out[at].width += c.values()
			continue
		}
		out = append(out, field{name: c.Name, dtype: c.DType, columns: []int{i}, width: c.values(), list: c.Width > 0})
	}
	for i := range out {
		out[i].arrow = out[i].describe(t)
	}
	return out
}

// describe gives the Arrow field with the metadata that Arrow's types cannot say.
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
		list, _ := json.Marshal(names) // strings always marshal
		add(metaColumns, string(list))
	}
	typ := arrowType(f.dtype, first.Unit, first.Zone)
	if f.list {
		typ = arrow.FixedSizeListOfNonNullable(int32(f.width), typ)
	}
	return arrow.Field{Name: f.name, Type: typ, Metadata: arrow.NewMetadata(keys, values)}
}
