package window

import "math"

// In is the first value of a time column with the unit ("" holds integers) that is not before t;
// what lies beyond an int64 is the least or the greatest. The error is a [SpecError].
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

// In is the step in the unit of a time column ("" holds integers). ok is false where it is no whole
// number of them, and where a duration meets integers.
func (s Step) In(unit string) (v int64, ok bool) {
	if !s.duration {
		return s.length, true
	}
	nanos := unitNanos[unit]
	return s.length / max(1, nanos), nanos > 0 && s.length%nanos == 0
}

// Units is a step of so many units of a time column, as a duration where the unit is one; ok is
// false where no duration is so long.
func Units(n int64, unit string) (s Step, ok bool) {
	nanos, known := unitNanos[unit]
	if !known {
		return Step{length: n}, unit == ""
	}
	return Step{duration: true, length: n * nanos}, n <= math.MaxInt64/nanos
}
