package tsf

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// step is the time between two values of a series: seconds, or whole months.
type step struct{ seconds, months int64 }

// units are the names of frequencies, those of the reader of GluonTS (gluonts.dataset.repository) and
// secondly.
var units = []struct {
	names []string
	step
}{
	{[]string{"secondly", "seconds"}, step{seconds: 1}},
	{[]string{"minutely", "minutes"}, step{seconds: 60}},
	{[]string{"hourly", "hours"}, step{seconds: 3600}},
	{[]string{"daily", "days"}, step{seconds: 86400}},
	{[]string{"weekly", "weeks"}, step{seconds: 7 * 86400}},
	{[]string{"monthly", "months"}, step{months: 1}},
	{[]string{"quarterly", "quarters"}, step{months: 3}},
	{[]string{"yearly", "years"}, step{months: 12}},
}

// maxMultiple is the largest number before the unit of a frequency.
const maxMultiple = 1_000_000

// stepOf returns the step of a frequency such as daily, half_hourly or 10_minutes.
func stepOf(frequency string) (s step, ok bool) {
	multiple, unit, found := strings.Cut(frequency, "_")
	if !found {
		multiple, unit = "1", frequency
	}
	for _, u := range units {
		if slices.Contains(u.names, unit) {
			s, ok = u.step, true
		}
	}
	if multiple == "half" {
		return step{seconds: s.seconds / 2}, ok && s.seconds > 1
	}
	number, err := strconv.ParseUint(multiple, 10, 32) // no sign
	n := int64(number)
	return step{s.seconds * n, s.months * n}, ok && err == nil && 1 <= n && n <= maxMultiple
}

// hintFrequency returns the hint for a frequency that is not known.
func hintFrequency() string {
	var names []string
	for _, u := range units {
		names = append(names, u.names[0])
	}
	return "write a line such as @frequency daily, with " + strings.Join(names, ", ") +
		", or a multiple such as half_hourly or 10_minutes"
}

// fits reports whether the times of the first n values are before the year 10000.
func (s step) fits(start time.Time, n int64) bool {
	if s.months > 0 {
		left := 12*(10000-int64(start.Year())) - int64(start.Month()) // months to December of 9999
		return n <= left/s.months+1
	}
	return n <= (maxTime-start.Unix())/s.seconds+1
}

// maxTime is the last second of the year 9999.
var maxTime = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()

// toUnit converts ascending times from seconds to a unit, an index in [textvalue.Units]. ok is false if
// they do not fit.
func toUnit(times []int64, unit int) (ok bool) {
	perSecond := [...]int64{1, 1e3, 1e6, 1e9}[unit]
	if times[0] < math.MinInt64/perSecond || times[len(times)-1] > math.MaxInt64/perSecond {
		return false
	}
	if perSecond > 1 {
		for i := range times {
			times[i] *= perSecond
		}
	}
	return true
}

// hintTime is the hint for times that cannot be stored.
const hintTime = "correct the time"

// fill stores the times of consecutive values, in seconds since 1970. start is the time of a series'
// first value, and first the place of the first of these values in the series. If a month has no such
// day, the time is on the last day of the month.
func (s step) fill(out []int64, start time.Time, first int64) {
	if s.months == 0 {
		for i := range out {
			out[i] = start.Unix() + (first+int64(i))*s.seconds
		}
		return
	}
	year, month, day := start.Date()
	seconds := start.Unix() - time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix()
	for i := range out {
		months := time.Month(int64(month) + (first+int64(i))*s.months)
		t := time.Date(year, months, min(day, 28), 0, 0, 0, 0, time.UTC)
		if day > 28 {
			last := time.Date(year, months+1, 0, 0, 0, 0, 0, time.UTC)
			t = t.AddDate(0, 0, min(day, last.Day())-28)
		}
		out[i] = t.Unix() + seconds
	}
}

// parseStart parses a time such as 1996-03-18 00-00-00, as Python's strptime does: it has neither
// fractions of a second nor a year 0.
func parseStart(text string) (time.Time, bool) {
	t, err := time.Parse("2006-1-2 15-4-5", text)
	return t, err == nil && !strings.ContainsAny(text, ".,") && t.Year() > 0
}
