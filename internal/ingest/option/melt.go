package option

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// Melt says whether a source has one series in each column or in each row. In JSON, true is
// MeltColumns and false is no melting.
type Melt string

// Values of [Options.Melt].
const (
	// MeltColumns makes an item of every column except the time: the column item has the name of
	// the source's column, and the column value its values.
	MeltColumns Melt = "columns"
	// MeltRows makes an item of every row: the item columns name it, and the values of the other
	// columns, up to the last one that is not missing, become the column value.
	MeltRows Melt = "rows"
)

// MarshalJSON writes true for MeltColumns, as recipes had it before there was MeltRows.
func (m Melt) MarshalJSON() ([]byte, error) {
	if m == MeltColumns {
		return []byte("true"), nil
	}
	return json.Marshal(string(m))
}

// UnmarshalJSON reads a boolean or a name.
func (m *Melt) UnmarshalJSON(b []byte) error {
	switch text := strings.TrimSpace(string(b)); text {
	case "null":
	case "true":
		*m = MeltColumns
	case "false":
		*m = ""
	default:
		return json.Unmarshal(b, (*string)(m))
	}
	return nil
}

// validateMelt checks melt against the other options.
func (o Options) validateMelt() error {
	if o.Melt == MeltRows {
		return o.validateMeltRows()
	}
	switch {
	case o.Melt == "":
		return nil
	case o.Melt != MeltColumns:
		return &loaderr.OptionError{Field: "melt", Value: string(o.Melt),
			Allowed: "columns or rows"}
	case len(o.ItemID) > 0:
		return &loaderr.OptionError{
			Field: "melt", Allowed: "it without item_id: the names of the columns become the items",
			Hint: "`melt=\"rows\"` takes one series a row",
		}
	case o.Time == column.MeltedItem || o.Time == column.MeltedValue:
		return &loaderr.OptionError{
			Field: "melt",
			Allowed: fmt.Sprintf(
				"it with a time column of another name than %q, which is a column of the result",
				o.Time),
		}
	}
	return nil
}

// validateMeltRows checks the other options for one series a row.
func (o Options) validateMeltRows() error {
	switch {
	case o.Time != "":
		return &loaderr.OptionError{
			Field: "time", Value: o.Time,
			Allowed: "it without `melt=\"rows\"`: the values of a row are a series, without a " +
				"time each",
		}
	case slices.Contains(o.ItemID, column.MeltedValue):
		return &loaderr.OptionError{
			Field: "item_id", Value: column.MeltedValue,
			Allowed: "columns of another name with `melt=\"rows\"`, whose result has this column",
		}
	}
	for _, name := range o.ItemID {
		if slices.Contains(o.Columns, name) {
			return &loaderr.OptionError{
				Field: "columns", Value: name,
				Allowed: "the columns of the values with `melt=\"rows\"`, not one that is in " +
					"item_id too",
			}
		}
	}
	return nil
}
