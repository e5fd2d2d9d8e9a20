package window_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"pgregory.net/rapid"

	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
	"github.com/tensorcache/tensorcache/window"
)

// zoneOf returns the zone of a name.
func zoneOf(t interface{ Fatal(...any) }, name string) window.Zone {
	location, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return window.Zone{Name: name, Location: location}
}

// reread writes and reads a bound.
func reread(t interface{ Fatal(...any) }, bound window.TimeValue) (again window.TimeValue) {
	b, err := json.Marshal(bound)
	if err == nil {
		err = json.Unmarshal(b, &again)
	}
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// wall returns what a clock shows at a time, as seconds since 1970 of a clock in UTC.
func wall(at time.Time) int64 {
	_, offset := at.Zone()
	return at.Unix() + int64(offset)
}

// TestBoundsWithoutAZoneAreThoseOfTheZonesClocks compares instants with what clocks show around them.
func TestBoundsWithoutAZoneAreThoseOfTheZonesClocks(t *testing.T) {
	names := []string{"UTC", "Europe/Berlin", "America/New_York", "America/Sao_Paulo",
		"Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Apia", "Africa/Monrovia"}
	rapid.Check(t, func(t *rapid.T) {
		zone := zoneOf(t, rapid.SampledFrom(names).Draw(t, "zone"))
		at := time.Unix(rapid.Int64Range(-2e9, 3e9).Draw(t, "seconds"), 0).In(zone.Location)
		if begin, _ := at.ZoneBounds(); rapid.Bool().Draw(t, "near a change") && !begin.IsZero() {
			at = begin.Add(time.Duration(rapid.Int64Range(-90000, 90000).Draw(t, "offset")) * time.Second)
		}
		shown := time.Unix(wall(at)+rapid.Int64Range(-7200, 7200).Draw(t, "moved"), 0).UTC()
		got, err := window.Local(shown).InZone("time", "s", zone)
		var times []int64 // at which a clock shows it
		var later []int64 // times from which on a clock shows that time or a later one
		for sec := shown.Unix() - 26*3600; sec <= shown.Unix()+26*3600; sec++ {
			w := wall(time.Unix(sec, 0).In(zone.Location))
			if w == shown.Unix() {
				times = append(times, sec)
			}
			if w >= shown.Unix() && len(later) == 0 {
				later = append(later, sec)
			}
		}
		if len(times) == 2 {
			if err == nil || !strings.Contains(err.Error(), "twice") {
				t.Fatalf("%s is shown twice: got %s, %v", shown, got, err)
			}
			return
		}
		if want := window.At(time.Unix(later[0], 0).UTC()); err != nil || got != want {
			t.Fatalf("%s in %s is %s, %v, want %s", shown, zone.Name, got, err, want)
		}
		if again := reread(t, got); again != got {
			t.Fatalf("%s is read as %s", got, again)
		}
		zoned := window.At(at)
		if a, err := reread(t, zoned).InZone("time", "s", zone); err != nil ||
			a != window.At(at.UTC()) {
			t.Fatalf("%s is read as %s, %v", zoned, a, err)
		}
	})
}

func TestBoundsAndZonesThatDoNotFitAreRefused(t *testing.T) {
	berlin := zoneOf(t, "Europe/Berlin")
	for _, c := range []struct {
		bound      string
		zone       window.Zone
		want, fail string
	}{
		{"2020-07-01", window.Zone{}, "2020-07-01T00:00:00Z", ""},
		{"2020-07-01T00:00:00Z", window.Zone{}, "2020-07-01T00:00:00Z", ""},
		{"2020-07-01T00:00:00+00:00", window.Zone{}, "2020-07-01T00:00:00Z", ""},
		{"2020-07-01T00:00:00+02:00", window.Zone{}, "",
			`time: got "2020-07-01T00:00:00+02:00", want a time without an offset or with Z: the times of the dataset have no zone`},
		{"2020-07-01", berlin, "2020-06-30T22:00:00Z", ""},
		{"2020-01-01 00:00:00.5", berlin, "2019-12-31T23:00:00.5Z", ""},
		{"2020-07-01T00:00:00Z", berlin, "2020-07-01T00:00:00Z", ""},
		{"2020-07-01T00:00:00-05:00", berlin, "2020-07-01T05:00:00Z", ""},
		{"2020-03-29T02:30", berlin, "2020-03-29T01:00:00Z", ""}, // clocks skip it
		{"2020-10-25T02:30", berlin, "",
			`time: got "2020-10-25T02:30:00", want 2020-10-25T02:30:00+02:00 or 2020-10-25T02:30:00+01:00: clocks of Europe/Berlin show it twice`},
		{"2020-07-01", window.Zone{Name: "Mars/Olympus"}, "",
			`time: got "2020-07-01T00:00:00", want a time with an offset: the zone "Mars/Olympus" of the dataset is not known`},
		{"2020-07-01T00:00:00+01:00", window.Zone{Name: "Mars/Olympus"}, "2020-06-30T23:00:00Z", ""},
	} {
		bound, err := window.ParseTime(c.bound)
		if err != nil {
			t.Fatal(err)
		}
		got, err := bound.InZone("time", "s", c.zone)
		if c.fail != "" {
			if err == nil || err.Error() != c.fail {
				t.Errorf("%s: got %v, want %s", c.bound, err, c.fail)
			}
		} else if err != nil || got.String() != c.want {
			t.Errorf("%s in %q: got %s, %v, want %s", c.bound, c.zone.Name, got, err, c.want)
		}
	}
}

// TestInstantsAreWrittenWithYearsOfFourDigits moves the first and the last bound into another year.
func TestInstantsAreWrittenWithYearsOfFourDigits(t *testing.T) {
	for _, c := range []struct{ bound, zone, want string }{
		{"9999-12-31T23:59:59.5", "America/New_York", "9999-12-31T05:00:59.5-23:59"},
		{"9999-12-31T23:59:59", "Asia/Tokyo", "9999-12-31T14:59:59Z"},
		{"0000-01-01", "Asia/Tokyo", "0000-01-01T14:40:01+23:59"},
		{"0000-01-01", "America/New_York", "0000-01-01T04:56:02Z"},
	} {
		bound, err := window.ParseTime(c.bound)
		if err != nil {
			t.Fatal(err)
		}
		at, err := bound.InZone("time", "s", zoneOf(t, c.zone))
		if err != nil || at.String() != c.want {
			t.Errorf("%s in %s is %s, %v, want %s", c.bound, c.zone, at, err, c.want)
		}
		again, err := reread(t, at).InZone("time", "s", zoneOf(t, c.zone))
		if err != nil || again != at {
			t.Errorf("%s is read as %s, %v", at, again, err)
		}
	}
}

func TestBoundsThatMeetAsInstantsAreRefused(t *testing.T) {
	parse := func(text string) window.TimeValue {
		bound, err := window.ParseTime(text)
		if err != nil {
			t.Fatal(err)
		}
		return bound
	}
	x, err := window.New(window.Spec{ContextLength: 1}, window.Table{Offsets: []int64{0, 1},
		Times: []int64{0}, Unit: "s", Zone: zoneOf(t, "Europe/Berlin")})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{"2020-03-29T02:10", "2020-03-29T02:50", "2020-03-29T01:00:00Z"}, // clocks skip both
		{"2020-03-25", "2020-03-24T22:00Z", "2020-03-24T23:00:00Z"},
	} {
		from, to := parse(c[0]), parse(c[1])
		_, err := x.Where(window.Where{Time: &window.TimeBounds{From: &from, To: &to}})
		if err == nil || !strings.Contains(err.Error(), "a first time before the last: as instants") ||
			!strings.Contains(err.Error(), c[0]) || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: %v", c[:2], err)
		}
		_, err = x.Split(window.Split{AtTimes: []window.TimeValue{from, to}})
		if want := "want a time after " + from.String() + ": as instants they are"; err == nil ||
			!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: %v", c[:2], err)
		}
	}
}

// TestIndexesResolveBoundsInTheZoneOfTheirTimes writes the spec and the cuts of an index with
// instants, and does not change those that were given.
func TestIndexesResolveBoundsInTheZoneOfTheirTimes(t *testing.T) {
	day, err := window.ParseTime("1970-01-02")
	if err != nil {
		t.Fatal(err)
	}
	table := window.Table{Offsets: []int64{0, 72}, Unit: "s", Zone: zoneOf(t, "Europe/Berlin")}
	for hour := range int64(72) {
		table.Times = append(table.Times, hour*3600)
	}
	spec := window.Spec{ContextLength: 1, Time: &window.TimeBounds{From: &day}}
	x, err := window.New(spec, table)
	if err != nil {
		t.Fatal(err)
	}
	if from, _ := x.Range(0); from != 23 {
		t.Errorf("begins in row %d, want 23", from)
	}
	const instant = `"1970-01-01T23:00:00Z"`
	if !strings.Contains(x.Canonical(), instant) || spec.Time.From.String() != "1970-01-02T00:00:00" {
		t.Errorf("%s, %s", x.Canonical(), spec.Time.From)
	}
	whole, err := window.New(window.Spec{ContextLength: 1}, table)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := whole.Split(window.Split{AtTimes: []window.TimeValue{day}})
	if err != nil || parts[0].Len() != 23 || !strings.Contains(parts[1].Canonical(), instant) {
		t.Errorf("%d windows before, %s, %v", parts[0].Len(), parts[1].Canonical(), err)
	}
	kept, err := whole.Where(window.Where{Time: &window.TimeBounds{To: &day}})
	if err != nil || kept.Len() != 23 || !strings.Contains(kept.Canonical(), instant) {
		t.Errorf("%d windows before, %s, %v", kept.Len(), kept.Canonical(), err)
	}
}
