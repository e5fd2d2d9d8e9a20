package plan

import (
	"slices"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/store"
	"github.com/tensorcache/tensorcache/window"
)

// calendarName is the name in known_columns of all calendar columns, unless a column is named so.
const calendarName = "calendar"

// withCalendar returns a spec with the names of the calendar columns in place of calendarName.
func withCalendar(h *store.Handle, spec window.Spec) (window.Spec, error) {
	at := slices.Index(spec.KnownColumns, calendarName)
	columns := h.Data.Manifest.Columns
	if at < 0 || slices.ContainsFunc(columns,
		func(c layout.ManifestColumn) bool { return c.Name == calendarName }) {
		return spec, nil
	}
	var calendar []string
	for _, c := range columns {
		if c.Calendar != "" {
			calendar = append(calendar, c.Name)
		}
	}
	if len(calendar) == 0 {
		return spec, wire.NewProblem(wire.ColumnNotFound,
			"known_columns: %q means the calendar columns, and the dataset has none", calendarName).
			WithField("known_columns").
			WithHint("load with `calendar=\"timeF:h\"` or other features (years have none), or name the columns")
	}
	spec.KnownColumns = slices.Replace(slices.Clone(spec.KnownColumns), at, at+1, calendar...)
	return spec, spec.Validate()
}
