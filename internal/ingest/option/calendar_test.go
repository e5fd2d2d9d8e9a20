package option

import (
	"slices"
	"testing"
)

func TestCalendarColumns(t *testing.T) {
	for _, c := range []struct{ names, want []string }{
		{[]string{"hour", "year"}, []string{"hour", "year"}},
		{[]string{"hour_sincos", "month_cos"}, []string{"hour_sin", "hour_cos", "month_cos"}},
		{nil, nil},
	} {
		columns, err := Options{Calendar: c.names}.CalendarColumns()
		var got []string
		for _, column := range columns {
			got = append(got, column.Name)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q has the columns %q (%v), want %q", c.names, got, err, c.want)
		}
	}
	for _, names := range [][]string{{"second"}, {"year_sin"}, {"hour", "hour"},
		{"hour_sin", "hour_sincos"}, {"hour_sin_sincos"}, {""}} {
		if c, err := (Options{Calendar: names}).CalendarColumns(); err == nil {
			t.Errorf("%q is accepted with %d columns", names, len(c))
		}
	}
}
