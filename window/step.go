package window

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Step is a length of time: a duration, or an integer in the unit of the time column. In JSON it is
// a string such as "1h", "15min" or "1d12h", or an integer.
type Step struct {
	duration bool
	length   int64 // nanoseconds, or the integer
}

// Nanoseconds returns a step of n nanoseconds.
func Nanoseconds(n int64) *Step { return &Step{duration: true, length: n} }

// Ticks returns a step of n units of the time column.
func Ticks(n int64) *Step { return &Step{length: n} }

// stepUnits are the units of durations, with the names that Go and pandas use. String uses the
// first name.
var stepUnits = []struct {
	nanos int64
	names []string
}{
	{7 * 86400e9, []string{"w", "W"}},
	{86400e9, []string{"d", "D", "day", "days"}},
	{3600e9, []string{"h", "H", "hr", "hour", "hours"}},
	{60e9, []string{"min", "m", "T", "minute", "minutes"}},
	{1e9, []string{"s", "S", "sec", "second", "seconds"}},
	{1e6, []string{"ms", "L"}},
	{1e3, []string{"us", "µs", "μs", "U"}},
	{1, []string{"ns", "N"}},
}

const stepAllowed = `a positive duration like "1h", "15min" or "1d", or a positive integer in units of the time column`

// ParseStep reads a duration such as "1h", "15min", "1d12h" or "h".
func ParseStep(s string) (Step, error) {
	bad := &SpecError{"max_step", s, stepAllowed}
	rest, sum := strings.TrimSpace(s), int64(0)
	if rest == "" {
		return Step{}, bad
	}
	for rest != "" {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		count := int64(1)
		if digits > 0 {
			var err error
			if count, err = strconv.ParseInt(rest[:digits], 10, 64); err != nil {
				return Step{}, bad
			}
		}
		rest = strings.TrimLeft(rest[digits:], " ")
		letters := len(rest) - len(
			strings.TrimLeftFunc(rest,
				func(r rune) bool { return r != ' ' && (r < '0' || r > '9') }))
		nanos := nanosOf(rest[:letters])
		if nanos == 0 || count > (math.MaxInt64-sum)/nanos {
			return Step{}, bad
		}
		sum += count * nanos
		rest = strings.TrimLeft(rest[letters:], " ")
	}
	step := Step{duration: true, length: sum}
	if err := step.validate(); err != nil {
		return Step{}, bad
	}
	return step, nil
}

func nanosOf(name string) int64 {
	for _, u := range stepUnits {
		for _, n := range u.names {
			if n == name {
				return u.nanos
			}
		}
	}
	return 0
}

func (s *Step) validate() error {
	if s == nil || s.length > 0 {
		return nil
	}
	return &SpecError{"max_step", s.String(), stepAllowed}
}

func (s Step) String() string {
	if !s.duration {
		return strconv.FormatInt(s.length, 10)
	}
	for _, u := range stepUnits {
		if s.length%u.nanos == 0 {
			return strconv.FormatInt(s.length/u.nanos, 10) + u.names[0]
		}
	}
	return ""
}

// MarshalJSON writes the duration in its largest whole unit, or the integer.
func (s Step) MarshalJSON() ([]byte, error) {
	if !s.duration {
		return []byte(s.String()), nil
	}
	return json.Marshal(s.String())
}

// UnmarshalJSON reads a duration or an integer.
func (s *Step) UnmarshalJSON(data []byte) (err error) {
	*s, err = readStep("max_step", data)
	return err
}

func readStep(field string, raw []byte) (Step, error) {
	if strings.HasPrefix(strings.TrimSpace(string(raw)), `"`) {
		text, err := readString(field, raw)
		if err != nil {
			return Step{}, err
		}
		return ParseStep(text)
	}
	v, err := readInt(field, raw)
	if err != nil {
		return Step{}, &SpecError{field, shorten(raw), stepAllowed}
	}
	return Step{length: v}, nil
}

// In returns the step in the unit of a time column ("" is integer time). ok is false if the step is
// not a whole number of units, or if it is a duration and the column contains integers.
func (s Step) In(unit string) (v int64, ok bool) {
	if !s.duration {
		return s.length, true
	}
	nanos := unitNanos[unit]
	return s.length / max(1, nanos), nanos > 0 && s.length%nanos == 0
}

// Units returns a step of n units of a time column. The step is a duration if the unit is one. ok
// is false if a duration cannot be that long.
func Units(n int64, unit string) (s Step, ok bool) {
	nanos, known := unitNanos[unit]
	if !known {
		return Step{length: n}, unit == ""
	}
	return Step{duration: true, length: n * nanos}, n <= math.MaxInt64/nanos
}

// in returns the largest difference in the unit that is not a jump.
func (s Step) in(unit string) (uint64, error) {
	if !s.duration {
		return uint64(s.length), nil
	}
	if unit == "" {
		return 0, &SpecError{"max_step", s.String(),
			"a positive integer: the time column holds integers"}
	}
	nanos, ok := unitNanos[unit]
	if !ok {
		return 0, unknownUnit(unit)
	}
	return uint64(s.length / nanos), nil
}
