// Package calendar computes features of a time column, such as the hour and its sine.
//
// [Parse] returns the columns of feature names, and [Fill] computes them, in the local time of a
// zone.
package calendar

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/parallel"
	"github.com/tensorcache/tensorcache/layout"
)

// feature is a feature of a time: integers from least on, with a period if they repeat. They are
// those of pandas' Series.dt: Monday is 0, and weeks are those of ISO 8601.
type feature struct {
	name          string
	least, period int
	of            func(day civil, second int64) int
}

// features are all features, in the order of messages.
var features = []feature{
	{"minute", 0, 60, func(_ civil, second int64) int { return int(second / 60 % 60) }},
	{"hour", 0, 24, func(_ civil, second int64) int { return int(second / 3600) }},
	{"dayofweek", 0, 7, func(d civil, _ int64) int { return d.weekday }},
	{"day", 1, 31, func(d civil, _ int64) int { return d.day }},
	{"dayofyear", 1, 366, func(d civil, _ int64) int { return d.yearday }},
	{"weekofyear", 1, 53, func(d civil, _ int64) int { return d.week }},
	{"month", 1, 12, func(d civil, _ int64) int { return d.month }},
	{"quarter", 1, 4, func(d civil, _ int64) int { return (d.month + 2) / 3 }},
	{"year", 0, 0, func(d civil, _ int64) int { return d.year }},
}

// civil is a day of the Gregorian calendar.
type civil struct{ year, month, day, weekday, yearday, week int }

// civilOf returns the day that is a number of days after 1970-01-01.
func civilOf(days int64) civil {
	t := time.Unix(days*86400, 0).UTC()
	_, week := t.ISOWeek()
	return civil{t.Year(), int(t.Month()), t.Day(), (int(t.Weekday()) + 6) % 7, t.YearDay(), week}
}

// Column is one column that a load computes from the time.
type Column struct {
	Name    string
	feature feature
	wave    func(float64) float64 // math.Sin, math.Cos, or nil for the integer itself
}

// Parse returns the columns of feature names, in their order. A name with _sincos has two columns.
// The error is a [loaderr.OptionError].
func Parse(names []string) ([]Column, error) {
	var out []Column
	for _, asked := range names {
		base, suffix := asked, ""
		for _, s := range []string{"_sincos", "_sin", "_cos"} {
			if b, ok := strings.CutSuffix(asked, s); ok {
				base, suffix = b, s
				break
			}
		}
		i := slices.IndexFunc(features, func(f feature) bool { return f.name == base })
		if i < 0 || suffix != "" && features[i].period == 0 {
			return nil, &loaderr.OptionError{
				Field: "calendar", Value: asked,
				Allowed: "minute, hour, dayofweek, day, dayofyear, weekofyear, month or quarter, " +
					"plain or with _sin, _cos or _sincos, or year",
			}
		}
		f := features[i]
		switch suffix {
		case "":
			out = append(out, Column{base, f, nil})
		default:
			if suffix != "_cos" {
				out = append(out, Column{base + "_sin", f, math.Sin})
			}
			if suffix != "_sin" {
				out = append(out, Column{base + "_cos", f, math.Cos})
			}
		}
	}
	for i, c := range out {
		if slices.ContainsFunc(out[:i], func(b Column) bool { return b.Name == c.Name }) {
			return nil, &loaderr.OptionError{Field: "calendar", Value: c.Name,
				Allowed: "each feature once"}
		}
	}
	return out, nil
}

// Layout returns the columns for the table of a result, where they follow those of the sources.
func Layout(columns []Column) []layout.Column {
	out := make([]layout.Column, len(columns))
	for i, c := range columns {
		out[i] = layout.Column{Name: c.Name, Role: layout.RoleValue, DType: layout.Float32}
	}
	return out
}

// Fill computes columns in the local time of a zone. times have perSecond units a second since
// 1970.
func Fill(
	ctx context.Context, workers int, columns []Column, to []layout.Strided[float32],
	times layout.Strided[int64], perSecond int64, zone *time.Location,
) error {
	values := make([][]float32, len(columns)) // by column and value of its feature
	for i, c := range columns {
		values[i] = c.table()
	}
	const block = 1 << 17
	return parallel.For(ctx, workers, int((times.Rows+block-1)/block), "", func(_, task int) error {
		c := clock{zone: zone, perSecond: perSecond, today: math.MinInt64}
		for row := int64(task) * block; row < min(times.Rows, int64(task+1)*block); row++ {
			second := c.set(times.Data[row*times.Step])
			for i := range columns {
				f := &columns[i].feature
				v := f.of(c.day, second)
				if f.period == 0 {
					to[i].Data[row*to[i].Step] = float32(v)
				} else {
					to[i].Data[row*to[i].Step] = values[i][v-f.least]
				}
			}
		}
		return nil
	})
}

// table returns the stored values of a feature with a period, from least on: the integer, or the
// sine or cosine of its part of the period.
func (c Column) table() []float32 {
	out := make([]float32, c.feature.period)
	for i := range out {
		if out[i] = float32(i + c.feature.least); c.wave != nil {
			out[i] = float32(c.wave(2 * math.Pi * float64(i) / float64(c.feature.period)))
		}
	}
	return out
}

// clock converts times to local days and seconds. It caches the last day, and the offset of the
// zone with the range of times that have it.
type clock struct {
	zone       *time.Location
	perSecond  int64
	from, till int64 // the offset is that of seconds from from to till-1
	offset     int64 // of the zone from UTC, in seconds
	today      int64
	day        civil
}

// set sets the day to that of a time, and returns the second of the day.
func (c *clock) set(v int64) (second int64) {
	at := floorDiv(v, c.perSecond)
	if at < c.from || at >= c.till {
		t := time.Unix(at, 0).In(c.zone)
		_, offset := t.Zone()
		c.offset, c.from, c.till = int64(offset), math.MinInt64, math.MaxInt64
		from, till := t.ZoneBounds()
		if !from.IsZero() {
			c.from = from.Unix()
		}
		if !till.IsZero() {
			c.till = till.Unix()
		}
	}
	at += c.offset
	if today := floorDiv(at, 86400); today != c.today {
		c.today, c.day = today, civilOf(today)
	}
	return at - c.today*86400
}

// floorDiv returns a / b, rounded down.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
