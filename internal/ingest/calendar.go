package ingest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // zones are known on machines that have no list of them

	"github.com/tensorcache/tensorcache/layout"
)

// calendarFeature is a feature of a time: whole numbers from least on, with a period where they come again. They are those of
// pandas' Series.dt: Monday is 0, weeks are ISO 8601's.
type calendarFeature struct {
	name          string
	least, period int
	of            func(day civil, second int64) int
}

var calendarFeatures = []calendarFeature{
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

// civil is a day of the calendar.
type civil struct{ year, month, day, weekday, yearday, week int }

func civilOf(days int64) civil {
	t := time.Unix(days*86400, 0).UTC()
	_, week := t.ISOWeek()
	return civil{t.Year(), int(t.Month()), t.Day(), (int(t.Weekday()) + 6) % 7, t.YearDay(), week}
}

// calendarColumn is one column that a load computes from the time.
type calendarColumn struct {
	name    string
	feature calendarFeature
	wave    func(float64) float64 // nil for the plain number
}

// calendar are the columns that the options ask for; the error is an [OptionError].
func (o Options) calendar() ([]calendarColumn, error) {
	var out []calendarColumn
	for _, asked := range o.Calendar {
		base, suffix := asked, ""
		for _, s := range []string{"_sincos", "_sin", "_cos"} {
			if b, ok := strings.CutSuffix(asked, s); ok {
				base, suffix = b, s
				break
			}
		}
		i := slices.IndexFunc(calendarFeatures, func(f calendarFeature) bool { return f.name == base })
		if i < 0 || suffix != "" && calendarFeatures[i].period == 0 {
			return nil, &OptionError{
				Field: "calendar", Value: asked,
				Allowed: "minute, hour, dayofweek, day, dayofyear, weekofyear, month or quarter, plain or with _sin, _cos or _sincos, or year",
			}
		}
		f := calendarFeatures[i]
		switch suffix {
		case "":
			out = append(out, calendarColumn{base, f, nil})
		default:
			if suffix != "_cos" {
				out = append(out, calendarColumn{base + "_sin", f, math.Sin})
			}
			if suffix != "_sin" {
				out = append(out, calendarColumn{base + "_cos", f, math.Cos})
			}
		}
	}
	for i, c := range out {
		if slices.ContainsFunc(out[:i], func(b calendarColumn) bool { return b.name == c.name }) {
			return nil, &OptionError{Field: "calendar", Value: c.name, Allowed: "each feature once"}
		}
	}
	return out, nil
}

// validateCalendar checks the features' names.
func (o Options) validateCalendar() error {
	if len(o.Calendar) > 0 && o.Time == "" {
		return &OptionError{Field: "calendar", Value: o.Calendar[0], Allowed: "it only together with time"}
	}
	_, err := o.calendar()
	return err
}

// checkCalendar refuses features of what is no timestamp, and such as have the name of a column.
func (o Options) checkCalendar(columns []column) error {
	features, err := o.calendar()
	if err != nil {
		return err
	}
	for _, f := range features {
		for _, c := range columns {
			if c.name == f.name {
				return &OptionError{Field: "calendar", Value: f.name, Allowed: "a feature that no column is named like", Hint: "leave the column out with --columns"}
			}
			if c.name == o.Time && c.kind != kindTime {
				return &OptionError{Field: "calendar", Value: f.name, Allowed: fmt.Sprintf("it only of timestamps; time column %q holds %s", c.name, c.describe())}
			}
		}
	}
	return nil
}

// calendarLayout are the columns as they are laid out, behind those of the sources.
func (o Options) calendarLayout() []layout.Column {
	features, _ := o.calendar() // checked
	out := make([]layout.Column, len(features))
	for i, f := range features {
		out[i] = layout.Column{Name: f.name, Role: layout.RoleValue, DType: layout.Float32}
	}
	return out
}

// fillCalendar computes the columns, whose first one is the first-th of the generation.
func (l *load) fillCalendar(ctx context.Context, k *keys, first int) error {
	features, err := l.calendar()
	if err != nil || len(features) == 0 {
		return err
	}
	zone, err := l.zone(k.clock)
	if err != nil {
		return err
	}
	to := make([]layout.Strided[float32], len(features))
	values := make([][]float32, len(features)) // of each number a feature can be
	for i, f := range features {
		to[i] = layout.Values[float32](l.writer.Dest(first + i))
		values[i] = f.table()
	}
	const block = 1 << 17
	return parallel(ctx, l.workers, int((l.rows+block-1)/block), "", func(_, task int) error {
		c := clock{zone: zone, perSecond: perSecond(k.clock.unit), today: math.MinInt64}
		for row := int64(task) * block; row < min(l.rows, int64(task+1)*block); row++ {
			second := c.set(k.time.Data[row*k.time.Step])
			for i := range features {
				f := &features[i].feature
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

// table is what a feature that comes again is stored as: n-th for least + n. The plain number, or sine or cosine of its share of the
// period.
func (c calendarColumn) table() []float32 {
	out := make([]float32, c.feature.period)
	for i := range out {
		if out[i] = float32(i + c.feature.least); c.wave != nil {
			out[i] = float32(c.wave(2 * math.Pi * float64(i) / float64(c.feature.period)))
		}
	}
	return out
}

// zone is the time zone of a column; times without one are UTC.
func (l *load) zone(c column) (*time.Location, error) {
	if c.zone == "" {
		return time.UTC, nil
	}
	if zone, err := time.LoadLocation(c.zone); err == nil {
		return zone, nil
	}
	for _, form := range []string{"-07:00", "-0700", "-07"} {
		if t, err := time.Parse(form, c.zone); err == nil {
			return t.Location(), nil
		}
	}
	return nil, &SourceError{Path: l.readers[0].path(), Column: c.name, Reason: fmt.Sprintf("its time zone %q is not known, which calendar needs", c.zone)}
}

// clock turns times into days and seconds of them, and remembers the last day and the stretch in which its zone's offset holds.
type clock struct {
	zone       *time.Location
	perSecond  int64
	from, till int64 // seconds in which the offset holds
	offset     int64
	today      int64
	day        civil
}

// set makes the day that of a time and returns the second in it.
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

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
