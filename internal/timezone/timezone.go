// Package timezone knows the time zones that time columns have: names of the IANA's database and
// offsets from UTC, as Arrow and pandas write them. It has the database itself.
package timezone

import (
	"time"
	_ "time/tzdata" // for machines without a database of zones
)

// Find returns the time zone of a name or offset; "" is UTC. ok is false if it is unknown. The
// result does not depend on the zone of the machine.
func Find(name string) (zone *time.Location, ok bool) {
	if name == "" {
		return time.UTC, true
	}
	if zone, err := time.LoadLocation(name); err == nil && name != "Local" {
		return zone, true
	}
	for _, form := range []string{"-07:00", "-0700", "-07"} {
		if t, err := time.Parse(form, name); err == nil {
			// its location may be that of the machine, which has daylight saving
			_, offset := t.Zone()
			return time.FixedZone(name, offset), true
		}
	}
	return nil, false
}
