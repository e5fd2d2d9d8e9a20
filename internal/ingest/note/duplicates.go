package note

import (
	"fmt"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/layout"
)

// Duplicates says how many of the rows that a load reads the option duplicates leaves out.
func Duplicates(o option.Options, duplicates, rows int64) layout.Note {
	same, hint := "item and time", "if more columns name the item, add them to `item_id`"
	if len(o.ItemID) == 0 {
		same, hint = "time", "if the rows are of several items, name the item's columns in `item_id`"
	}
	return layout.Note{
		Field: "duplicates", Hint: hint,
		Detail: fmt.Sprintf("%s leaves out %d of %d rows, which have the %s of another row",
			loaderr.Option("duplicates", o.Duplicates), duplicates, rows, same),
	}
}
