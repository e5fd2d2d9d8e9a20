package textvalue

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-strftime"
	"pgregory.net/rapid"

	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
)

// TestParseTimeEqualsTimeParse compares ParseTime with time.Parse in all accepted layouts.
func TestParseTimeEqualsTimeParse(t *testing.T) {
	zones := []string{"", "Z", "+01:00", "-11:30", "+0530", "-03"}
	layouts := []string{"2006-01-02", "2006-01-02 15:04", "2006-01-02T15:04:05",
		"2006-01-02 15:04:05.9", "2006-01-02 15:04:05.999", "2006-01-02T15:04:05.999999",
		"2006-01-02 15:04:05.999999999"}
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringMatching(
			`[0-2][0-9]{3}-[01][0-9]-[0-3][0-9]([ T][0-2][0-9]:[0-6][0-9](:[0-6][0-9](\.[0-9]{1,9})?)?)?`).Draw(r, "text")
		zone := ""
		if len(text) > 10 {
			zone = rapid.SampledFrom(zones).Draw(r, "zone")
		}
		got, ok := ParseTime([]byte(text + zone))
		var want time.Time
		err := fmt.Errorf("no layout matches")
		for _, layout := range layouts {
			if len(text) > 10 && text[10] == 'T' != strings.Contains(layout, "T") &&
				len(layout) > 10 {
				layout = layout[:10] + text[10:11] + layout[11:]
			}
			for _, z := range []string{"", "Z07:00", "-0700", "-07"} {
				if w, e := time.Parse(layout+z, text+zone); e == nil {
					want, err = w, nil
				}
			}
		}
		if ok != (err == nil) {
			r.Fatalf("%q: %v, want %v", text+zone, ok, err)
		}
		if ok && (got.seconds != want.Unix() || got.nanos != int64(want.Nanosecond()) ||
			got.Zoned != (zone != "")) {
			r.Fatalf("%q: %+v, want %v", text+zone, got, want)
		}
	})
	for text, unit := range map[string]string{"2016-07-01": "s", "2016-07-01 00:00:00.1": "ms",
		"2016-07-01 00:00:00.123": "ms", "2016-07-01 00:00:00.1234": "us",
		"2016-07-01 00:00:00.1234567": "ns"} {
		if got, ok := ParseTime([]byte(text)); !ok || Units[got.Unit] != unit {
			t.Errorf("%q is in %s, want %s", text, Units[got.Unit], unit)
		}
	}
	for _, text := range []string{"2016-02-30", "2016-7-1", "01/02/2016", "Jan 1 2000",
		"2016-07-01 24:00:00", "2016-07-01 00:00:60", "2016-07-01 00:00:00.",
		"2016-07-01 00:00:00.1234567890", "2016-07-01 00", "2016-07-01Z", "2016-07-01 00:00:00 UTC",
		"2016-07-01x00:00:00"} {
		if got, ok := ParseTime([]byte(text)); ok {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

// TestTimesOfTheTimeColumnEqualTimeParse compares days with the year first with time.Parse.
func TestTimesOfTheTimeColumnEqualTimeParse(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringMatching(
			`(19|20)[0-9]{2}([/.-])[01]?[0-9]([/.-])[0-3]?[0-9]([ T][0-2]?[0-9]:[0-6][0-9](:[0-6][0-9](\.[0-9]{1,9})?)?Z?)?`).
			Draw(r, "text")
		var want time.Time
		err := fmt.Errorf("no layout matches")
		for _, sign := range []string{"/", ".", "-"} {
			for _, clock := range []string{"", " 15:04", " 15:04:05", "T15:04", "T15:04:05"} {
				for _, zone := range []string{"", "Z07:00"} {
					day := strings.ReplaceAll("2006*1*2", "*", sign)
					if w, e := time.Parse(day+clock+zone, text); e == nil && (zone == "" || clock != "") {
						want, err = w, nil
					}
				}
			}
		}
		got, ok := ParseTimeCell([]byte(text))
		if ok != (err == nil) {
			r.Fatalf("%q: %v, want %v", text, ok, err)
		}
		if ok && (got.seconds != want.Unix() || got.nanos != int64(want.Nanosecond()) ||
			got.Zoned != strings.HasSuffix(text, "Z")) {
			r.Fatalf("%q: %+v, want %v", text, got, want)
		}
	})
	for _, text := range []string{"1990/13/1", "1990/1", "1990/1/", "1990//1", "1990/1/1 0", "1990/1/1 0:0",
		"1990/1/1x0:00", "1990/1/1 000:00", "1990/001/1", "1/1/1990", "90/1/1", "1990_1_1",
		"1990/1/1 " + strings.Repeat("0", 80)} {
		if got, ok := ParseTimeCell([]byte(text)); ok {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

// TestTimeFormatsParseWhatStrftimeWrites formats times with package strftime and parses them.
func TestTimeFormatsParseWhatStrftimeWrites(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		format := rapid.SampledFrom([]string{
			"%d/%m/%Y %H:%M:%S", "%m/%d/%y %I:%M:%S %p", "%Y%m%d%H%M%S", "%d.%b.%Y %T", "%Y-%j %T",
			"%-d/%-m/%Y %T", "%B %e, %Y %T", "%FT%T%z", "%d/%m/%Y %T%:z", "%T.%f %D",
			"%T,%N %d %m %Y", "100%% %F %T", "%v %r", "%c", "timestamp %Y_%m_%d %H_%M_%S",
		}).Draw(r, "format")
		at := time.Unix(rapid.Int64Range(0, 3e9).Draw(r, "seconds"), 0).
			In(time.FixedZone("", 3600*rapid.IntRange(-12, 12).Draw(r, "zone")))
		f, why := ParseTimeFormat(format)
		if why != "" {
			r.Fatal(why)
		}
		want := at.Unix()
		if !strings.Contains(format, "z") {
			_, offset := at.Zone()
			want += int64(offset)
		}
		fraction := strings.Contains(format, "%f") || strings.Contains(format, "%N")
		if fraction {
			at = at.Add(125 * time.Millisecond)
		}
		got, ok := f.Parse([]byte(strftime.Format(format, at)))
		if short := format == "%m/%d/%y %I:%M:%S %p" || format == "%T.%f %D"; short &&
			at.Year() >= 2069 {
			return // two digits of a year are of 1969 to 2068
		}
		if !ok || got.seconds != want || fraction && (got.nanos != 125e6 || got.Unit != 1) {
			r.Fatalf("%s of %s: %+v, %v", format, strftime.Format(format, at), got, ok)
		}
	})
}

// TestFormatsNameAFieldOnce combines directives that name a field in one way or another.
func TestFormatsNameAFieldOnce(t *testing.T) {
	dates := []string{"%d/%m/%Y", "%-d.%-m.%y", "%e %b %Y", "%d %B %Y", "%F", "%D", "%v"}
	clocks := []string{"%H:%M", "%I:%M %p", "%R", "%T", "%r", "%H:%M:%S.%f", "%H:%M%z", "%H:%M%:z"}
	for _, date := range dates {
		for _, clock := range clocks {
			if _, why := ParseTimeFormat(date + " " + clock); why != "" {
				t.Errorf("%s %s: want %s", date, clock, why)
			}
			for _, other := range slices.Concat(dates, clocks) {
				format := date + " " + clock + " - " + other
				if _, why := ParseTimeFormat(format); !strings.Contains(why, " once;") {
					t.Errorf("%s: want %q", format, why)
				}
			}
		}
	}
	for _, format := range []string{"%F %H:%M %z %z", "%Y-%j-%j", "%c %Y", "%FT%T %p %p"} {
		if _, why := ParseTimeFormat(format); !strings.Contains(why, " once;") {
			t.Errorf("%s: want %q", format, why)
		}
	}
	for _, format := range []string{"%% %F %%", "%A %F (%a)", "%A %c", "%Y-%j", "%c", "%Y", "%Y-%m",
		"%b%y", "%% %d %% %m %Y"} {
		if _, why := ParseTimeFormat(format); why != "" {
			t.Errorf("%s: want %q", format, why)
		}
	}
}

func TestInvalidTimeFormatsAreRefused(t *testing.T) {
	for _, format := range []string{"%H:%M", "%d/%m", "%d %Y", "%Y %H", "%Y-%m %H:%M", "%F %M",
		"%Y-%m-%d %I:%M", "%Y-%U-%w",
		"%d/%m/%Y %Z", "%q", "x", "%s.%f", "%f %F", "2006-01-02", "%F %M:%S Jan"} {
		if _, why := ParseTimeFormat(format); why == "" {
			t.Errorf("%q was accepted", format)
		}
	}
}
