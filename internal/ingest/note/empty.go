package note

import (
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// emptyNotes says which columns of floats have no values. It says nothing about columns that the
// options columns or dtype name.
func (t *Table) emptyNotes() []layout.Note {
	var names []string
	for _, c := range t.Columns {
		if c.Role == layout.RoleValue && t.Options.DType.By[c.Name] == "" &&
			!slices.Contains(t.Options.Columns, c.Name) && isEmpty(c) {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	them := "them"
	if len(names) == 1 {
		them = "it"
	}
	return []layout.Note{{
		Field:  "columns",
		Detail: have(names) + " no values, so that a spec whose `max_missing` is 0 has no window",
		Hint: "leave " + them + " out with `columns`, or fill " + them + ", as with " +
			loaderr.ColumnOption("fill", names[0], 0),
	}}
}

// isEmpty reports whether a column has floats, all of which are NaN.
func isEmpty(c layout.ColumnWriter) bool {
	switch c.DType {
	case layout.Float64:
		return all(layout.Values[float64](c), func(v float64) bool { return v != v })
	case layout.Float32:
		return all(layout.Values[float32](c), func(v float32) bool { return v != v })
	case layout.Float16:
		return all(layout.Values[layout.Half](c), layout.Half.IsNaN)
	}
	return false
}

// all reports whether all values are of a kind. It stops at the first that is not.
func all[T any](values layout.Strided[T], is func(T) bool) bool {
	for row := range values.Rows {
		if slices.ContainsFunc(values.Row(row), func(v T) bool { return !is(v) }) {
			return false
		}
	}
	return true
}
