package option

import (
	"slices"
	"testing"

	"github.com/tensorcache/tensorcache/layout"
)

func TestCalendarColumns(t *testing.T) {
	for _, c := range []struct{ names, want []string }{
		{[]string{"hour", "age"}, []string{"hour", "age"}},
		{[]string{"hour_sincos", "month_cos"}, []string{"hour_sin", "hour_cos", "month_cos"}},
		{[]string{"timeF:W", "year"}, []string{"day_unit", "weekofyear_unit", "year"}},
		{[]string{"timeF:YE"}, nil},
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
	for _, names := range [][]string{{"millisecond"}, {"year_sin"}, {"hour", "hour"}, {"age", "age"},
		{"hour_sin", "hour_sincos"}, {"timeF:h", "day_unit"}, {"hour_sin_sincos"}, {"timeF:ms"},
		{"timeF"}, {""}} {
		if c, err := (Options{Calendar: names}).CalendarColumns(); err == nil {
			t.Errorf("%q is accepted with %d columns", names, len(c))
		}
	}
}

func TestCalendarFitsColumnsThatAreMarked(t *testing.T) {
	o := Options{Calendar: []string{"hour"}}
	for _, c := range []struct {
		column layout.ManifestColumn
		fits   bool
	}{
		{layout.ManifestColumn{Name: "hour", Calendar: "hour"}, true},
		{layout.ManifestColumn{Name: "hour"}, false}, // as 0.1 stored it
		{layout.ManifestColumn{Name: "day", Calendar: "day"}, false},
	} {
		if got := o.CalendarFits([]layout.ManifestColumn{c.column}); got != c.fits {
			t.Errorf("%+v fits: %v, want %v", c.column, got, c.fits)
		}
	}
}
