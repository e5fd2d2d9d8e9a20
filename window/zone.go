package window

import (
	"fmt"
	"slices"
	"time"
)

// Zone is the zone of a time column. The zero value is that of a column without one.
type Zone struct {
	Name     string
	Location *time.Location // nil if the name is not known
}

// InZone returns t as an instant, for a time column with a unit and a zone. Without a zone of its own,
// t becomes the instant at which clocks in the zone of the column show it, or at which they skip it.
// An integer stays as it is, as does any t for integer time.
//
// The error is a [SpecError]: clocks show t twice, the name of the zone is not known, or t has an
// offset other than 0 and the column no zone.
func (t TimeValue) InZone(field, unit string, zone Zone) (TimeValue, error) {
	instant := TimeValue{instant: true, sec: t.sec, nsec: t.nsec}
	switch {
	case !t.instant || unit == "":
		return t, nil
	case zone.Name == "" && t.offset != 0:
		return t, &SpecError{field, t.String(),
			"a time without an offset or with Z: the times of the dataset have no zone"}
	case zone.Name == "" || !t.local:
		return instant, nil
	case zone.Location == nil:
		return t, &SpecError{field, t.String(),
			fmt.Sprintf("a time with an offset: the zone %q of the dataset is not known", zone.Name)}
	}
	at := time.Unix(t.sec, 0).UTC()
	near := time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0,
		zone.Location)
	begin, end := near.ZoneBounds()
	var found []int64
	offsets := []int64{offsetOf(near)}
	if !begin.IsZero() {
		offsets = append(offsets, offsetOf(begin.Add(-time.Second)))
	}
	if !end.IsZero() {
		offsets = append(offsets, offsetOf(end))
	}
	for _, offset := range offsets {
		sec := t.sec - offset
		if offsetOf(time.Unix(sec, 0).In(zone.Location)) == offset && !slices.Contains(found, sec) {
			found = append(found, sec)
		}
	}
	slices.Sort(found)
	switch len(found) {
	case 0: // clocks skip t when the offset changes
		instant.sec, instant.nsec = end.Unix(), 0
		if !begin.IsZero() && begin.Unix()+offsetOf(begin) > t.sec {
			instant.sec = begin.Unix()
		}
	case 1:
		instant.sec = found[0]
	default:
		return t, &SpecError{field, t.String(), fmt.Sprintf("%s or %s: clocks of %s show it twice",
			withOffset(found[0], t), withOffset(found[1], t), zone.Name)}
	}
	return instant, nil
}

// offsetOf returns the offset of a time from UTC in seconds.
func offsetOf(t time.Time) int64 {
	_, offset := t.Zone()
	return int64(offset)
}

// withOffset returns the text of t with the offset that makes it the instant sec.
func withOffset(sec int64, t TimeValue) string {
	return TimeValue{instant: true, offset: int(t.sec - sec), sec: sec, nsec: t.nsec}.String()
}

// instants returns the bounds as instants; see [TimeValue.InZone]. b may be nil.
func (b *TimeBounds) instants(field string, t Table) (*TimeBounds, error) {
	if b.open() {
		return b, nil
	}
	out := *b
	given := fmt.Sprint(b)
	for _, bound := range []**TimeValue{&out.From, &out.To} {
		if *bound == nil {
			continue
		}
		at, err := (*bound).InZone(field, t.Unit, t.Zone)
		if err != nil {
			return nil, err
		}
		*bound = &at
	}
	if err := out.validate(field); err != nil && b.validate(field) == nil {
		return nil, &SpecError{field, given, fmt.Sprintf(
			"a first time before the last: as instants they are %v", &out)}
	}
	return &out, nil
}

// instants returns the cut with its times as instants.
func (c Cut) instants(t Table) (Cut, error) {
	if c.Where != nil {
		w := *c.Where
		var err error
		if w.Time, err = w.Time.instants("time", t); err != nil {
			return c, err
		}
		c.Where = &w
	}
	if c.Split != nil && c.Split.AtTimes != nil {
		s := *c.Split
		s.AtTimes = make([]TimeValue, len(c.Split.AtTimes))
		for i, at := range c.Split.AtTimes {
			var err error
			field := fmt.Sprintf("at_times[%d]", i)
			if s.AtTimes[i], err = at.InZone(field, t.Unit, t.Zone); err != nil {
				return c, err
			}
			if i > 0 && at.instant && !s.AtTimes[i-1].before(s.AtTimes[i]) {
				return c, &SpecError{field, at.String(), fmt.Sprintf(
					"a time after %s: as instants they are %s and %s", c.Split.AtTimes[i-1],
					s.AtTimes[i], s.AtTimes[i-1])}
			}
		}
		c.Split = &s
	}
	return c, nil
}
