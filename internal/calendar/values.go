package calendar

import (
	"math"
	"time"
)

// Values computes columns row by row. It is not safe for concurrent use.
type Values struct {
	columns []Column
	tables  [][]float32 // by column and value of its feature
	clock   clock
	ofTime  bool // a column is
}

// NewValues returns the values of columns of times with perSecond units a second since 1970, in the
// local time of a zone. Columns that are not of the time need neither.
func NewValues(columns []Column, perSecond int64, zone *time.Location) *Values {
	v := &Values{columns: columns, tables: make([][]float32, len(columns)),
		clock: clock{zone: zone, perSecond: perSecond, today: math.MinInt64}}
	for i, c := range columns {
		v.tables[i], v.ofTime = c.table(), v.ofTime || c.IsOfTime()
	}
	return v
}

// Of writes the values of a time and of a row in its item to out, which has one for each column.
func (v *Values) Of(time, row int64, out []float32) {
	var second int64
	if v.ofTime {
		second = v.clock.set(time)
	}
	for i := range v.columns {
		f := &v.columns[i].feature
		switch {
		case f.of == nil:
			out[i] = age(row)
		case f.period == 0:
			out[i] = float32(f.of(v.clock.day, second))
		default:
			out[i] = v.tables[i][f.of(v.clock.day, second)-f.least]
		}
	}
}

// age returns the nearest float32 of log10(2 + row). GluonTS computes it in float32: its result may
// differ by two units in the last place, and between processors and C libraries.
func age(row int64) float32 { return float32(math.Log10(2 + float64(row))) }

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
