package option

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/calendar"
	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// CalendarColumns returns the calendar columns, in their order. A name with _sincos has two columns.
// The error is a [loaderr.OptionError].
func (o Options) CalendarColumns() ([]calendar.Column, error) {
	var out []calendar.Column
	for _, asked := range o.Calendar {
		each := []string{asked}
		if base, ok := strings.CutSuffix(asked, "_sincos"); ok {
			each = []string{base + "_sin", base + "_cos"}
		}
		for _, name := range each {
			c, ok := calendar.Of(name)
			if !ok {
				return nil, &loaderr.OptionError{
					Field: "calendar", Value: asked,
					Allowed: "minute, hour, dayofweek, day, dayofyear, weekofyear, month or quarter, " +
						"plain or with _sin, _cos or _sincos, or year",
				}
			}
			out = append(out, c)
		}
	}
	for i, c := range out {
		if slices.ContainsFunc(out[:i], func(b calendar.Column) bool { return b.Name == c.Name }) {
			return nil, &loaderr.OptionError{Field: "calendar", Value: c.Name,
				Allowed: "each feature once"}
		}
	}
	return out, nil
}

// validateCalendar checks the names of calendar features.
func (o Options) validateCalendar() error {
	if len(o.Calendar) > 0 && o.Time == "" {
		return &loaderr.OptionError{Field: "calendar", Value: o.Calendar[0],
			Allowed: "it only together with time"}
	}
	_, err := o.CalendarColumns()
	return err
}

// CheckCalendar refuses calendar features of a time column without timestamps, and features with
// the name of a column.
func (o Options) CheckCalendar(columns []column.Column) error {
	features, err := o.CalendarColumns()
	if err != nil {
		return err
	}
	for _, f := range features {
		for _, c := range columns {
			if c.Name == f.Name {
				return &loaderr.OptionError{
					Field: "calendar", Value: f.Name,
					Allowed: "a feature that no column is named like",
					Hint:    "leave the column out with `columns`",
				}
			}
			if c.Name == o.Time && c.Kind != column.KindTime {
				return &loaderr.OptionError{
					Field: "calendar", Value: f.Name,
					Allowed: fmt.Sprintf("it only of timestamps; time column %q holds %s", c.Name,
						c.Describe()),
				}
			}
		}
	}
	return nil
}

// CalendarLayout returns the calendar columns of the result, which follow those of the sources.
func (o Options) CalendarLayout() []layout.Column {
	columns, _ := o.CalendarColumns() // Validate has checked them
	out := make([]layout.Column, len(columns))
	for i, c := range columns {
		out[i] = layout.Column{Name: c.Name, Role: layout.RoleValue, DType: layout.Float32}
	}
	return out
}
