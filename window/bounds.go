package window

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Bounds is a half-open range of rows of an item. A nil bound is open, and a negative one counts
// from the item's end. In JSON it is [from, to].
type Bounds struct {
	From, To *int64
}

// Rows returns the bounds [from, to).
func Rows(from, to int64) *Bounds { return &Bounds{&from, &to} }

// resolve returns the rows of an item of n rows, clamped as a Python slice clamps them.
func (b *Bounds) resolve(n int64) (from, to int64) {
	from, to = 0, n
	if b == nil {
		return from, to
	}
	if b.From != nil {
		from = clampRow(*b.From, n)
	}
	if b.To != nil {
		to = clampRow(*b.To, n)
	}
	return from, max(from, to)
}

func clampRow(row, n int64) int64 {
	if row < 0 {
		return max(0, n+row)
	}
	return min(row, n)
}

// open reports whether both bounds are open.
func (b *Bounds) open() bool { return b == nil || b.From == nil && b.To == nil }

func (b *Bounds) validate(field string) error {
	if b == nil || b.From == nil || b.To == nil {
		return nil
	}
	if (*b.From < 0) == (*b.To < 0) && *b.From >= *b.To {
		return &SpecError{field, b.String(), "a first row below the last"}
	}
	return nil
}

func (b *Bounds) String() string {
	data, _ := json.Marshal(b)
	return string(data)
}

// MarshalJSON writes [from, to].
func (b Bounds) MarshalJSON() ([]byte, error) { return json.Marshal([2]*int64{b.From, b.To}) }

// UnmarshalJSON reads [from, to]. Both may be null.
func (b *Bounds) UnmarshalJSON(data []byte) (err error) {
	*b, err = readBounds("rows", data)
	return err
}

func readBounds(field string, raw []byte) (Bounds, error) {
	pair, err := readPair(field, raw, readInt)
	return Bounds{pair[0], pair[1]}, err
}

func readPair[T any](field string, raw []byte,
	read func(string, []byte) (T, error)) (pair [2]*T, err error) {
	list, err := readList(field, raw, orNull(read))
	if err != nil {
		return pair, err
	}
	if len(list) != 2 {
		return pair, &SpecError{field, shorten(raw), "a list of two, either may be null"}
	}
	return [2]*T{list[0], list[1]}, nil
}

// TimeBounds is a half-open range of time. A nil bound is open. In JSON it is [from, to].
type TimeBounds struct {
	From, To *TimeValue
}

// open reports whether both bounds are open.
func (b *TimeBounds) open() bool { return b == nil || b.From == nil && b.To == nil }

func (b *TimeBounds) validate(field string) error {
	if b == nil || b.From == nil || b.To == nil || b.From.instant != b.To.instant ||
		b.From.local != b.To.local {
		return nil
	}
	if !b.From.before(*b.To) {
		return &SpecError{field, b.String(), "a first time before the last"}
	}
	return nil
}

func (b *TimeBounds) String() string {
	data, _ := json.Marshal(b)
	return string(data)
}

// MarshalJSON writes [from, to].
func (b TimeBounds) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]*TimeValue{b.From, b.To})
}

// UnmarshalJSON reads [from, to]. Each is null, RFC 3339, a date, a month or an integer.
func (b *TimeBounds) UnmarshalJSON(data []byte) (err error) {
	*b, err = readTimeBounds("time", data)
	return err
}

func readTimeBounds(field string, raw []byte) (TimeBounds, error) {
	pair, err := readPair(field, raw, readTimeValue)
	return TimeBounds{pair[0], pair[1]}, err
}

// in returns the bounds in the unit of a time column.
func (b *TimeBounds) in(field, unit string) (bounds timeRange, err error) {
	bounds = timeRange{from: beforeAll, to: afterAll}
	if b == nil {
		return bounds, nil
	}
	if b.From != nil {
		if bounds.from, err = b.From.in(field, unit); err != nil {
			return bounds, err
		}
	}
	if b.To != nil {
		bounds.to, err = b.To.in(field, unit)
	}
	return bounds, err
}

// timeRange is a half-open range of time in the unit of a time column.
type timeRange struct{ from, to timestamp }

// rows returns the rows with times in the range. times are those of an item, in ascending order.
func (r timeRange) rows(times []int64) (from, to int64) {
	from, to = r.from.firstRow(times), r.to.firstRow(times)
	return from, max(from, to)
}

// timestamp is a time in the unit of a time column.
type timestamp struct {
	at       int64
	overflow int // 1 if the time is after all of int64, −1 if it is before, else 0
}

// Open bounds of time.
var beforeAll, afterAll = timestamp{overflow: -1}, timestamp{overflow: 1}

// firstRow returns the first row at or after the timestamp.
func (m timestamp) firstRow(times []int64) int64 {
	switch m.overflow {
	case -1:
		return 0
	case 1:
		return int64(len(times))
	}
	row, _ := slices.BinarySearch(times, m.at)
	return int64(row)
}

func (m timestamp) before(o timestamp) bool {
	return m.overflow < o.overflow || m.overflow == o.overflow && m.overflow == 0 && m.at < o.at
}

func noTimes(field, value string) error {
	allowed := "nothing: the dataset has no time column"
	if value == "" {
		allowed = "no order of groups: the dataset has no time column"
	}
	return &SpecError{field, value, allowed}
}

func unknownUnit(unit string) error {
	return fmt.Errorf("%w: time unit %q, want \"s\", \"ms\", \"us\", \"ns\", \"day\" or \"\"",
		ErrTable, unit)
}
