package note

import (
	"fmt"
	"slices"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
	"github.com/tensorcache/tensorcache/layout"
)

// itemNotes says which items of text files have a word for a missing value as their name. It says
// nothing about columns that the option dtype names.
func (t *Table) itemNotes() (notes []layout.Note) {
	for _, c := range t.Columns {
		if c.Role != layout.RoleItemID || t.Options.DType.By[c.Name] != "" ||
			!slices.Contains(t.Cells, c.Name) {
			continue
		}
		at := slices.IndexFunc(t.Words[c.Name], func(word string) bool {
			return textvalue.IsMissing([]byte(word))
		})
		if at < 0 {
			continue
		}
		notes = append(notes, layout.Note{
			Field: "item_id",
			Detail: fmt.Sprintf("column %s has the item %s, which the load reads as a name, not as a "+
				"missing value", quote(c.Name), quote(t.Words[c.Name][at])),
			Hint: "if it is a name, load with " + loaderr.ColumnOption("dtype", c.Name, "text") +
				"; otherwise remove its rows",
		})
	}
	return notes
}
