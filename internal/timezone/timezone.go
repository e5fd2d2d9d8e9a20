// Package timezone finds the time zones of time columns: by names of IANA's database, which it
// contains, or by offsets from UTC, as Arrow and pandas write them.
package timezone

import (
	"time"
	_ "time/tzdata" // for machines without a database of zones

	"github.com/tensorcache/tensorcache/window"
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

// OfColumn returns the zone of a time column by its name, for bounds in time; "" is no zone.
func OfColumn(name string) window.Zone {
	zone := window.Zone{Name: name}
	if name != "" {
		zone.Location, _ = Find(name)
	}
	return zone
}
