package note

import (
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// FieldDType is the field of the notes of [Capitals].
const FieldDType = "dtype"

// Capitals says that the cells TRUE and FALSE of columns are booleans. It says nothing about columns
// that the option dtype names.
func Capitals(o option.Options, names []string) []layout.Note {
	var columns []string
	for _, name := range names {
		if o.DType.By[name] == "" {
			columns = append(columns, name)
		}
	}
	if len(columns) == 0 {
		return nil
	}
	return []layout.Note{{
		Field:  FieldDType,
		Detail: have(columns) + " TRUE or FALSE, which the load takes for booleans",
		Hint:   "if they are texts, load with " + loaderr.ColumnOption("dtype", columns[0], "text"),
	}}
}
