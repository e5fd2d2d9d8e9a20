package window

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

// TimeValue is a bound in time: an instant, a date and time without a zone, or an integer in the unit
// of the time column. In JSON it is RFC 3339, with or without a zone, a date, a month or an integer.
//
// A time without a zone is in the zone of the time column. If the column has no zone, a time with an
// offset other than 0 is refused. See [TimeValue.InZone].
type TimeValue struct {
	instant bool  // it is not an integer
	local   bool  // it has no zone; sec and nsec are those of the same date and time in UTC
	offset  int   // of the zone in which it was given, in seconds
	sec     int64 // seconds since 1970, or the integer
	nsec    int64
}

// At returns an instant. It keeps the offset of t from UTC: if the time column has no zone, only
// the offset 0 is accepted.
func At(t time.Time) TimeValue {
	_, offset := t.Zone()
	return TimeValue{instant: true, offset: offset, sec: t.Unix(), nsec: int64(t.Nanosecond())}
}

// Local returns the date and time of t, without its zone.
func Local(t time.Time) TimeValue {
	_, offset := t.Zone()
	return TimeValue{instant: true, local: true, sec: t.Unix() + int64(offset),
		nsec: int64(t.Nanosecond())}
}

// Tick returns an integer in the unit of the time column.
func Tick(v int64) TimeValue { return TimeValue{sec: v} }

func (t TimeValue) before(o TimeValue) bool {
	return t.sec < o.sec || t.sec == o.sec && t.nsec < o.nsec
}

func (t TimeValue) String() string {
	if !t.instant {
		return strconv.FormatInt(t.sec, 10)
	}
	at := time.Unix(t.sec, t.nsec).UTC()
	if t.local {
		return at.Format("2006-01-02T15:04:05.999999999")
	}
	offset := t.offset - t.offset%60 // RFC 3339 has no seconds in an offset
	// Years of RFC 3339 have four digits. That of 9999-12-31T20:00:00-05:00 in UTC has five.
	const largest = 24*3600 - 60 // offset
	switch year := at.In(time.FixedZone("", offset)).Year(); {
	case year > 9999:
		offset = -largest
	case year < 0:
		offset = largest
	}
	if offset != 0 {
		at = at.In(time.FixedZone("", offset))
	}
	return at.Format(time.RFC3339Nano)
}

// MarshalJSON writes RFC 3339, without a zone if it has none, or the integer.
func (t TimeValue) MarshalJSON() ([]byte, error) {
	if !t.instant {
		return []byte(t.String()), nil
	}
	return json.Marshal(t.String())
}

// UnmarshalJSON reads RFC 3339, a date, a month or an integer.
func (t *TimeValue) UnmarshalJSON(data []byte) (err error) {
	*t, err = readTimeValue("time", data)
	return err
}

var (
	zonedForms = []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00"}
	localForms = []string{"2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02", "2006-01"}
)

// ParseTime reads RFC 3339, a date or a month, which is its start. It accepts a space instead of the
// T, and times without seconds or without a zone.
func ParseTime(s string) (TimeValue, error) {
	text := s
	if len(text) > 10 && text[10] == ' ' {
		text = text[:10] + "T" + text[11:]
	}
	for _, form := range zonedForms {
		if t, err := time.Parse(form, text); err == nil {
			return At(t), nil
		}
	}
	for _, form := range localForms {
		if t, err := time.Parse(form, text); err == nil {
			return Local(t), nil
		}
	}
	return TimeValue{},
		&SpecError{"time", s, `RFC 3339 like "2016-07-01T00:00:00Z", a date, a month, or an integer`}
}

func readTimeValue(field string, raw []byte) (TimeValue, error) {
	if strings.HasPrefix(strings.TrimSpace(string(raw)), `"`) {
		s, err := readString(field, raw)
		if err != nil {
			return TimeValue{}, err
		}
		t, err := ParseTime(s)
		if e, ok := err.(*SpecError); ok {
			e.Field = field
		}
		return t, err
	}
	v, err := readInt(field, raw)
	if err != nil {
		return TimeValue{},
			&SpecError{field, shorten(raw),
				`RFC 3339 like "2016-07-01T00:00:00Z", a date, a month, or an integer`}
	}
	return Tick(v), nil
}

// unitNanos are the nanoseconds of each unit of a time column. Integer time has no unit.
var unitNanos = map[string]int64{
	"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "day": 86400e9,
}

// In returns the first value of a time column with the unit ("" is integer time) that is not before
// t. A time without a zone counts as one of UTC; see [TimeValue.InZone]. In returns the least or the
// largest int64 if the value overflows. The error is a [SpecError].
func (t TimeValue) In(field, unit string) (int64, error) {
	m, err := t.in(field, unit)
	switch {
	case err != nil:
		return 0, err
	case m.overflow < 0:
		return math.MinInt64, nil
	case m.overflow > 0:
		return math.MaxInt64, nil
	}
	return m.at, nil
}

// in returns the first time at or after t in the unit of a time column. A comparison with it, ≥ or
// <, has the same result as a comparison with t.
func (t TimeValue) in(field, unit string) (timestamp, error) {
	if !t.instant {
		return timestamp{at: t.sec}, nil
	}
	nanos, ok := unitNanos[unit]
	switch {
	case unit == "":
		return timestamp{},
			&SpecError{field, t.String(), "an integer: the time column holds integers"}
	case !ok:
		return timestamp{}, unknownUnit(unit)
	case nanos >= 1e9:
		secs := nanos / 1e9
		at := floorDiv(t.sec, secs)
		if at*secs != t.sec || t.nsec > 0 {
			at++
		}
		return timestamp{at: at}, nil
	}
	perSec := 1e9 / nanos
	switch {
	case t.sec >= math.MaxInt64/perSec:
		return afterAll, nil
	case t.sec <= math.MinInt64/perSec:
		return beforeAll, nil
	}
	return timestamp{at: t.sec*perSec + (t.nsec+nanos-1)/nanos}, nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
