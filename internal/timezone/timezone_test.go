package timezone

import (
	"testing"
	"time"
)

func TestUnknownZonesAreNotFound(t *testing.T) {
	for _, name := range []string{"Mars/Olympus", "Local", "+1"} {
		if _, ok := Find(name); ok {
			t.Errorf("zone %q is known", name)
		}
		if zone := OfColumn(name); zone.Name != name || zone.Location != nil {
			t.Errorf("zone %q: %v", name, zone)
		}
	}
	if zone := OfColumn(""); zone.Location != nil {
		t.Errorf("no zone: %v", zone)
	}
}

func TestOffsetsDoNotDependOnTheZoneOfTheMachine(t *testing.T) {
	machine := time.Local
	defer func() { time.Local = machine }()
	for _, name := range []string{"CET", "EST5EDT", "Europe/Berlin"} {
		local, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		time.Local = local
		for text, want := range map[string]int{"+01:00": 3600, "-0500": -18000, "+02": 7200} {
			zone, ok := Find(text)
			for _, month := range []time.Month{time.January, time.July} {
				if _, got := time.Date(2024, month, 1, 0, 0, 0, 0, zone).Zone(); !ok ||
					got != want {
					t.Errorf("%s in %s of a machine in %s is %d s, want %d", text, month,
						name, got, want)
				}
			}
		}
	}
}
