package calendar

import (
	"math"
	"time"
)

// Values computes columns row by row. It is immutable and safe for concurrent use.
type Values struct {
	columns   []Column
	tables    [][]float32 // by column and value of its feature
	zone      *time.Location
	perSecond int64 // units of times in a second
	ofTime    bool  // a column is
}

// units are the numbers of time units in a second.
var units = map[string]int64{"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}

// NewValues returns the values of columns of times since 1970 in a unit (s, ms, us or ns), in the
// local time of a zone. Columns that are not of the time need neither.
func NewValues(columns []Column, unit string, zone *time.Location) *Values {
	v := &Values{columns: columns, tables: make([][]float32, len(columns)), zone: zone,
		perSecond: units[unit]}
	for i, c := range columns {
		v.tables[i], v.ofTime = c.table(), v.ofTime || c.IsOfTime()
	}
	return v
}

// Of writes the values of a time and of a row in its item to out, which has one for each column. c
// is for this goroutine alone, and for times of these Values.
func (v *Values) Of(c *Clock, time, row int64, out []float32) {
	var second int64
	if v.ofTime {
		second = c.set(floorDiv(time, v.perSecond), v.zone)
	}
	for i := range v.columns {
		f := &v.columns[i].feature
		switch {
		case f.of == nil:
			out[i] = age(row)
		case f.period == 0:
			out[i] = float32(f.of(c.day, second))
		default:
			out[i] = v.tables[i][f.of(c.day, second)-f.least]
		}
	}
}

// age returns the nearest float32 of log10(2 + row). GluonTS computes it in float32: its result may
// differ by two units in the last place, and between processors and C libraries.
func age(row int64) float32 { return float32(math.Log10(2 + float64(row))) }

// Clock converts times to local days and seconds. It caches the last day, and the offset of the
// zone with the range of times that have it.
type Clock struct {
	from, till int64 // the offset is that of seconds from from to till-1
	offset     int64 // of the zone from UTC, in seconds
	today      int64
	day        civil // of today; zero before the first time
}

// set sets the day to that of a second since 1970, and returns the second of the day.
func (c *Clock) set(at int64, zone *time.Location) (second int64) {
	if at < c.from || at >= c.till {
		t := time.Unix(at, 0).In(zone)
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
	if today := floorDiv(at, 86400); today != c.today || c.day.month == 0 {
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
