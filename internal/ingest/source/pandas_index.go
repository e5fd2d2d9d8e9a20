package source

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// PandasKey is the key of a schema's metadata in which pandas describes a frame and its index:
// https://pandas.pydata.org/docs/development/developer.html.
const PandasKey = "pandas"

// PandasIndex reports which fields of a source are levels of the index of a pandas frame. The zero
// value is that of a source without metadata of pandas: it finds levels without a name by the name
// that pyarrow gives them.
type PandasIndex struct {
	levels map[string]int  // place of each level; nil if no metadata list them
	kept   map[string]bool // fields that have a name of their own, or no integers in pandas
}

var (
	// withoutName matches the name that pyarrow gives to the column of a level without a name.
	withoutName = regexp.MustCompile(`^__index_level_\d+__$`)
	integerType = regexp.MustCompile(`^u?int\d+$`)
)

// ParsePandasIndex returns the index that metadata, the value of [PandasKey], describes. It ignores
// what is not as pandas writes it.
func ParsePandasIndex(metadata string) PandasIndex {
	var x PandasIndex
	d := json.NewDecoder(strings.NewReader(metadata))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return x
	}
	// Member by member: the attributes of a frame may contain NaN, which is no JSON.
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			break
		}
		switch key {
		case "index_columns":
			x.setLevels(value)
		case "columns":
			x.setKept(value)
		}
	}
	return x
}

func (x *PandasIndex) setLevels(value json.RawMessage) {
	var levels []any // names, and objects for ranges, which are no fields
	if json.Unmarshal(value, &levels) != nil || levels == nil {
		return
	}
	x.levels = map[string]int{}
	for _, level := range levels {
		name, ok := level.(string)
		if _, repeated := x.levels[name]; ok && !repeated {
			x.levels[name] = len(x.levels)
		}
	}
}

func (x *PandasIndex) setKept(value json.RawMessage) {
	var columns []json.RawMessage
	if json.Unmarshal(value, &columns) != nil {
		return
	}
	x.kept = map[string]bool{}
	for _, raw := range columns {
		var c struct {
			Name  any    `json:"name"`
			Field string `json:"field_name"`
			Type  string `json:"pandas_type"`
		}
		if json.Unmarshal(raw, &c) == nil && (c.Name != nil || !integerType.MatchString(c.Type)) {
			x.kept[c.Field] = true
		}
	}
}

// IsLevel reports whether a field is a level of the index.
func (x PandasIndex) IsLevel(name string) bool {
	if x.levels == nil {
		return withoutName.MatchString(name)
	}
	_, ok := x.levels[name]
	return ok
}

// leavesOut reports whether a field is a level without a name that has integers: these are the places
// of rows before the frame was filtered or sorted.
func (x PandasIndex) leavesOut(c column.Column) bool {
	return c.Kind.IsInteger() && c.Width == 0 && x.IsLevel(c.Name) &&
		withoutName.MatchString(c.Name) && !x.kept[c.Name]
}

// Columns returns the indexes of the fields that are columns, those of levels first, as in a frame.
// It leaves out levels of integers without a name, unless the load names them; isNamed is that of
// [Settings]. It returns an error if none is left.
func (x PandasIndex) Columns(fields []column.Column, isNamed func(string) bool) ([]int, error) {
	var out []int
	for i, c := range fields {
		if !x.leavesOut(c) || isNamed(c.Name) {
			out = append(out, i)
		}
	}
	if len(out) == 0 && len(fields) > 0 {
		return nil, &loaderr.SourceError{
			Reason: "has no columns besides an index of pandas without a name",
			Hint: "write it with columns, or name the index, as frame.rename_axis(\"row\") does in " +
				"pandas",
		}
	}
	slices.SortStableFunc(out, func(a, b int) int {
		return cmp.Compare(x.place(fields[a].Name), x.place(fields[b].Name))
	})
	return out, nil
}

// place returns where the columns of a frame have a field: levels are before all others.
func (x PandasIndex) place(name string) int {
	switch place, ok := x.levels[name]; {
	case ok:
		return place - len(x.levels)
	case x.IsLevel(name):
		return -1
	}
	return 0
}
