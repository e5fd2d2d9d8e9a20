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

// timeF begins the names of the features of a frequency, as Time-Series-Library calls them.
const timeF = "timeF:"

// CalendarColumns returns the calendar columns, in their order. A name with _sincos has two columns,
// and timeF:FREQ those of the frequency. The error is a [loaderr.OptionError].
func (o Options) CalendarColumns() ([]calendar.Column, error) {
	var out []calendar.Column
	from := map[string]string{} // the name as it was given, by column
	for _, asked := range o.Calendar {
		names := []string{asked}
		if base, ok := strings.CutSuffix(asked, "_sincos"); ok {
			names = []string{base + "_sin", base + "_cos"}
		} else if frequency, ok := strings.CutPrefix(asked, timeF); ok {
			if names, ok = calendar.OfFrequency(frequency); !ok {
				return nil, &loaderr.OptionError{Field: "calendar", Value: asked, Allowed: timeF +
					" and a frequency: s, min, h, D, B, W, ME, QE or YE, as in timeF:15min"}
			}
		}
		for _, name := range names {
			c, ok := calendar.Of(name)
			if !ok {
				return nil, &loaderr.OptionError{
					Field: "calendar", Value: asked,
					Allowed: "second, minute, hour, dayofweek, day, dayofyear, weekofyear, month or " +
						"quarter, also with _sin, _cos, _sincos or _unit; or year, age, or timeF: and a " +
						"frequency, as in timeF:h",
				}
			}
			if other, ok := from[name]; ok {
				return nil, &loaderr.OptionError{Field: "calendar", Value: asked,
					Allowed: fmt.Sprintf("each column once; %q has %q too", other, name)}
			}
			from[name] = asked
			out = append(out, c)
		}
	}
	return out, nil
}

// validateCalendar checks the names of calendar features.
func (o Options) validateCalendar() error {
	columns, err := o.CalendarColumns()
	if err != nil {
		return err
	}
	if o.Time == "" && slices.ContainsFunc(columns, calendar.Column.IsOfTime) {
		of := slices.IndexFunc(o.Calendar, func(name string) bool { return name != calendar.Age })
		return &loaderr.OptionError{Field: "calendar", Value: o.Calendar[of],
			Allowed: "it only together with time"}
	}
	return nil
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
			if f.IsOfTime() && c.Name == o.Time && c.Kind != column.KindTime {
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

// CalendarFits reports whether a generation stores of each calendar column that it is one. Versions
// before 0.2 did not.
func (o Options) CalendarFits(columns []layout.ManifestColumn) bool {
	features, _ := o.CalendarColumns() // Validate has checked them
	for _, f := range features {
		i := slices.IndexFunc(columns, func(c layout.ManifestColumn) bool { return c.Name == f.Name })
		if i < 0 || columns[i].Calendar != f.Name {
			return false
		}
	}
	return true
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
