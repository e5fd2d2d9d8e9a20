package calendar

import (
	"math"
	"time"
)

// Values computes columns. It is immutable and safe for concurrent use.
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

// Of writes the values of consecutive rows of an item, of which row is the first, to out, which has a
// list for each column. times are those of the rows. c is for this goroutine alone, and for times of
// these Values.
func (v *Values) Of(c *Clock, times []int64, row int64, out [][]float32) {
	var seconds [256]int64
	for k := 0; k < len(times); {
		day, n := v.day(c, times[k:min(len(times), k+len(seconds))], seconds[:])
		for i := range v.columns {
			v.write(i, out[i][k:k+n], &day, seconds[:n], row+int64(k))
		}
		k += n
	}
}

// day returns the day of the first time, and how many times from the first on are in it. It writes their
// seconds of the day to seconds.
func (v *Values) day(c *Clock, times, seconds []int64) (day civil, n int) {
	if !v.ofTime {
		return day, len(times)
	}
	midnight := int64(0)
	for n, at := range times {
		if v.perSecond > 1 {
			at = floorDiv(at, v.perSecond)
		}
		second := c.set(at, v.zone)
		if n == 0 {
			day, midnight = c.day, c.midnight
		} else if c.midnight != midnight {
			return day, n
		}
		seconds[n] = second
	}
	return day, len(times)
}

// write writes the values of a column in rows of one day.
func (v *Values) write(column int, out []float32, day *civil, seconds []int64, row int64) {
	f, table := &v.columns[column].feature, v.tables[column]
	switch {
	case f.ofDay != nil:
		value := f.ofDay(day)
		is := float32(value)
		if f.period > 0 {
			is = table[value-f.least]
		}
		for k := range out {
			out[k] = is
		}
	case f.ofSecond != nil:
		for k := range out {
			out[k] = table[f.ofSecond(seconds[k])-f.least]
		}
	default:
		for k := range out {
			out[k] = age(row + int64(k))
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
	midnight   int64 // at which day begins, in local seconds since 1970
	day        civil // zero before the first time
}

// daySeconds is the length of a day of local time, whose days are all equally long.
const daySeconds = 86400

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
	if second = at - c.midnight; second < 0 || second >= daySeconds || c.day.month == 0 {
		days := floorDiv(at, daySeconds)
		c.midnight, c.day = days*daySeconds, civilOf(days)
		second = at - c.midnight
	}
	return second
}

// floorDiv returns a / b, rounded down.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
