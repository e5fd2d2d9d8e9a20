// Package calendar computes features of times, such as the hour and its sine. The age is a feature of
// a row in its item.
//
// [Of] returns the column of a name, [OfFrequency] the names for a frequency, and [Values] computes
// columns row by row, in the local time of a zone.
package calendar

import (
	"math"
	"slices"
	"strings"
	"time"
)

// feature is a feature of a day or of a second of a day: integers from least on, with a period if they
// repeat. They are those of pandas' Series.dt: Monday is 0, and weeks are those of ISO 8601.
type feature struct {
	name          string
	least, period int
	ofDay         func(*civil) int // nil for a feature of seconds
	ofSecond      func(int64) int
}

// Age is the name of the feature log10(2 + row), where row is the row in the item. It needs no time.
// It comes from GluonTS' AddAgeFeature.
const Age = "age"

// features are all features of times, in the order of messages.
var features = []feature{
	{"second", 0, 60, nil, func(second int64) int { return int(second % 60) }},
	{"minute", 0, 60, nil, func(second int64) int { return int(second / 60 % 60) }},
	{"hour", 0, 24, nil, func(second int64) int { return int(second / 3600) }},
	{"dayofweek", 0, 7, func(d *civil) int { return d.weekday }, nil},
	{"day", 1, 31, func(d *civil) int { return d.day }, nil},
	{"dayofyear", 1, 366, func(d *civil) int { return d.yearday }, nil},
	{"weekofyear", 1, 53, func(d *civil) int { return d.week }, nil},
	{"month", 1, 12, func(d *civil) int { return d.month }, nil},
	{"quarter", 1, 4, func(d *civil) int { return (d.month + 2) / 3 }, nil},
	{"year", 0, 0, func(d *civil) int { return d.year }, nil},
}

// civil is a day of the Gregorian calendar.
type civil struct{ year, month, day, weekday, yearday, week int }

// civilOf returns the day that is a number of days after 1970-01-01.
func civilOf(days int64) civil {
	t := time.Unix(days*daySeconds, 0).UTC()
	_, week := t.ISOWeek()
	return civil{t.Year(), int(t.Month()), t.Day(), (int(t.Weekday()) + 6) % 7, t.YearDay(), week}
}

// Column is one column of a feature.
type Column struct {
	Name    string
	feature feature
	value   func(f feature, i int) float64 // of i, which is 0 for the least integer
}

// IsOfTime reports whether the column is computed from the time. [Age] is not.
func (c Column) IsOfTime() bool { return c.Name != Age }

// forms are the suffixes of a feature's name, and the values of such columns. The plain integers
// have the suffix "".
var forms = []struct {
	suffix string
	value  func(f feature, i int) float64
}{
	{"_sin", func(f feature, i int) float64 {
		return math.Sin(2 * math.Pi * float64(i) / float64(f.period))
	}},
	{"_cos", func(f feature, i int) float64 {
		return math.Cos(2 * math.Pi * float64(i) / float64(f.period))
	}},
	{unitSuffix, func(f feature, i int) float64 { // as GluonTS rounds it
		return float64(i)/float64(f.period-1) - 0.5
	}},
	{"", func(f feature, i int) float64 { return float64(i + f.least) }},
}

// unitSuffix is that of columns from -0.5 for the least integer to 0.5 for the largest one.
const unitSuffix = "_unit"

// Of returns the column of a name. ok is false if there is none.
func Of(name string) (c Column, ok bool) {
	if name == Age {
		return Column{Name: Age}, true
	}
	for _, form := range forms {
		base, ok := strings.CutSuffix(name, form.suffix)
		i := slices.IndexFunc(features, func(f feature) bool { return f.name == base })
		if ok && i >= 0 && (form.suffix == "" || features[i].period > 0) {
			return Column{name, features[i], form.value}, true
		}
	}
	return Column{}, false
}

// table returns the values of a feature with a period, from that of the least integer on; nil for
// other columns.
func (c Column) table() []float32 {
	out := make([]float32, c.feature.period)
	for i := range out {
		out[i] = float32(c.value(c.feature, i))
	}
	return out
}
