package option

import (
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// defaultTime is the name of the time column that TimeParts make.
const defaultTime = "time"

// WithTimeName returns the options with the name of the time column that TimeParts make.
func (o Options) WithTimeName() Options {
	if len(o.TimeParts) > 0 && o.Time == "" {
		o.Time = defaultTime
	}
	return o
}

// validateTimeParts checks the columns of a time in parts.
func (o Options) validateTimeParts() error {
	if len(o.TimeParts) > len(column.TimeParts) {
		return &loaderr.OptionError{
			Field: "time", Value: strings.Join(o.TimeParts, ","),
			Allowed: "at most the columns of " + strings.Join(column.TimeParts[:], ", "),
		}
	}
	if err := distinct("time", o.TimeParts); err != nil {
		return err
	}
	for _, name := range o.TimeParts {
		if slices.Contains(o.ItemID, name) || slices.Contains(o.Columns, name) {
			return &loaderr.OptionError{
				Field: "time", Value: name,
				Allowed: "columns that name neither items nor values too",
			}
		}
	}
	if len(o.TimeParts) > 0 && o.TimeFormat != "" {
		return &loaderr.OptionError{Field: "time_format", Value: o.TimeFormat,
			Allowed: "it for a time in one column only"}
	}
	return nil
}
