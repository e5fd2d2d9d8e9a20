package note

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// Duplicates says how many rows the option duplicates leaves out, of those that the filters select.
func Duplicates(o option.Options, duplicates, rows int64) layout.Note {
	kept, hint := "item and time", "if more columns name the item, add them to `item_id`"
	switch {
	case o.Melt != "":
		kept, hint = "series and time", "if a series has several values of one time by mistake, correct them"
	case len(o.ItemID) == 0:
		kept, hint = "time", "if the rows are of several items, name the item's columns in `item_id`"
	}
	return layout.Note{
		Field: "duplicates", Hint: hint,
		Detail: fmt.Sprintf("%s leaves out %d of %d rows, because it keeps one row of each %s",
			loaderr.Option("duplicates", o.Duplicates), duplicates, rows, kept),
	}
}
