package textvalue

import (
	"math"
	"slices"
	"time"
)

// Time is a parsed time: seconds since 1970 in UTC and a fraction.
type Time struct {
	seconds, nanos int64
	Unit           int  // index in [Units], of the coarsest unit that has the fraction's digits
	Zoned          bool // the text has an offset from UTC
}

// In returns the time in a unit, an index in [Units]. ok is false if it does not fit.
func (t Time) In(unit int) (v int64, ok bool) {
	per := [...]int64{1, 1e3, 1e6, 1e9}[unit]
	if t.seconds > math.MaxInt64/per-1 || t.seconds < math.MinInt64/per+1 {
		return 0, false
	}
	return t.seconds*per + t.nanos/(1e9/per), true
}

// ParseTime parses YYYY-MM-DD, alone or with a T or blank and HH:MM, HH:MM:SS or HH:MM:SS.fraction,
// and then Z, ±HH, ±HHMM, ±HH:MM or nothing. What it accepts, time.Parse accepts with the same
// result.
func ParseTime(b []byte) (t Time, ok bool) {
	if len(b) < 10 || b[4] != '-' || b[7] != '-' {
		return t, false
	}
	y1, ok1 := twoDigits(b[0:])
	y2, ok2 := twoDigits(b[2:])
	month, ok3 := twoDigits(b[5:])
	day, ok4 := twoDigits(b[8:])
	if !ok1 || !ok2 || !ok3 || !ok4 || month < 1 || month > 12 || day < 1 {
		return t, false
	}
	year := y1*100 + y2
	if day > daysIn(year, month) {
		return t, false
	}
	t.seconds = days(year, month, day) * 86400
	if len(b) == 10 {
		return t, true
	}
	if b[10] != ' ' && b[10] != 'T' {
		return t, false
	}
	rest, ok := t.clock(b[11:])
	if !ok {
		return t, false
	}
	return t, len(rest) == 0 || t.zone(rest)
}

// ParseTimeCell is [ParseTime] for cells of the time column. It also parses YYYY-MM, which is the
// start of the month. The signs between year, month and day may be / or . too, and month, day and hour
// may have one digit, as in 1990/1/1 0:00.
func ParseTimeCell(b []byte) (t Time, ok bool) {
	if t, ok = ParseTime(b); ok || len(b) < len("2016-07") || len(b) > maxTime {
		return t, ok
	}
	if len(b) == len("2016-07") {
		return ParseTime(append(append(make([]byte, 0, maxTime), b...), "-01"...))
	}
	sign := b[4]
	if sign != '/' && sign != '.' && sign != '-' {
		return t, false
	}
	whole := append(append(make([]byte, 0, maxTime+3), b[:4]...), '-')
	whole, b, ok = appendTwoDigits(whole, b[5:])
	if !ok || len(b) == 0 || b[0] != sign {
		return t, false
	}
	whole, b, ok = appendTwoDigits(append(whole, '-'), b[1:])
	if ok && len(b) > 1 {
		whole, b, ok = appendTwoDigits(append(whole, b[0]), b[1:])
	}
	if !ok {
		return t, false
	}
	return ParseTime(append(whole, b...))
}

// maxTime is the largest number of bytes of a time that ParseTimeCell parses.
const maxTime = 64

// appendTwoDigits appends a number of one or two digits at the start of b as two digits, and returns
// the rest of b.
func appendTwoDigits(to, b []byte) (out, rest []byte, ok bool) {
	n := 0
	for n < 2 && n < len(b) && b[n]-'0' <= 9 {
		n++
	}
	if n == 1 {
		to = append(to, '0')
	}
	return append(to, b[:n]...), b[n:], n > 0
}

// clock parses HH:MM[:SS[.fraction]] and returns the rest.
func (t *Time) clock(b []byte) (rest []byte, ok bool) {
	if len(b) < 5 || b[2] != ':' {
		return b, false
	}
	hour, ok1 := twoDigits(b)
	minute, ok2 := twoDigits(b[3:])
	if !ok1 || !ok2 || hour > 23 || minute > 59 {
		return b, false
	}
	t.seconds += hour*3600 + minute*60
	b = b[5:]
	if len(b) < 3 || b[0] != ':' {
		return b, true
	}
	second, ok3 := twoDigits(b[1:])
	if !ok3 || second > 59 {
		return b, false
	}
	t.seconds += second
	b = b[3:]
	if len(b) < 2 || b[0] != '.' {
		return b, true
	}
	i, scale := 1, int64(1e8)
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		if i > 9 {
			return b, false
		}
		t.nanos += int64(b[i]-'0') * scale
		scale /= 10
	}
	t.Unit = (i + 1) / 3
	return b[i:], i > 1
}

// zone parses Z or an offset.
func (t *Time) zone(b []byte) bool {
	t.Zoned = true
	if len(b) == 1 && b[0] == 'Z' {
		return true
	}
	if len(b) < 3 || b[0] != '+' && b[0] != '-' {
		return false
	}
	hour, ok := twoDigits(b[1:])
	var minute int64
	switch {
	case len(b) == 5:
		var ok2 bool
		minute, ok2 = twoDigits(b[3:])
		ok = ok && ok2
	case len(b) == 6 && b[3] == ':':
		var ok2 bool
		minute, ok2 = twoDigits(b[4:])
		ok = ok && ok2
	case len(b) != 3:
		return false
	}
	if !ok || hour > 23 || minute > 59 {
		return false
	}
	offset := hour*3600 + minute*60
	if b[0] == '+' {
		offset = -offset
	}
	t.seconds += offset
	return true
}

// twoDigits parses two digits.
func twoDigits(b []byte) (int64, bool) {
	x, y := b[0]-'0', b[1]-'0'
	return int64(x)*10 + int64(y), x <= 9 && y <= 9
}

// daysIn returns the number of days of a month.
func daysIn(year, month int64) int64 {
	if month == 2 {
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 30 + (month+month>>3)&1
}

// days returns the number of days from 1970-01-01 to a date (Howard Hinnant, "chrono-Compatible
// Low-Level Date Algorithms", days_from_civil).
func days(year, month, day int64) int64 {
	if month <= 2 {
		year--
	}
	era := year / 400
	if year < 0 {
		era = (year - 399) / 400
	}
	inEra := year - era*400
	inYear := (153*((month+9)%12)+2)/5 + day - 1
	return era*146097 + inEra*365 + inEra/4 - inEra/100 + inYear - 719468
}

// TimeText returns a time in a unit for messages.
func TimeText(v int64, unit string) string {
	switch unit {
	case "s":
		return time.Unix(v, 0).UTC().Format("2006-01-02 15:04:05")
	case "ms":
		return time.UnixMilli(v).UTC().Format("2006-01-02 15:04:05.000")
	case "us":
		return time.UnixMicro(v).UTC().Format("2006-01-02 15:04:05.000000")
	}
	return time.Unix(0, v).UTC().Format("2006-01-02 15:04:05.000000000")
}

// Units are the units of timestamps. Unit i has 3·i digits of a fraction of a second.
var Units = [...]string{"s", "ms", "us", "ns"}

// UnitDigits returns the index of a unit in [Units], 0 for an unknown one.
func UnitDigits(unit string) int { return max(0, slices.Index(Units[:], unit)) }

// PerSecond returns the number of a unit in a second.
func PerSecond(unit string) int64 { return [...]int64{1, 1e3, 1e6, 1e9}[UnitDigits(unit)] }
