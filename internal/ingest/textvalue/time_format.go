package textvalue

import (
	"regexp"
	"strings"
	"time"
	"unsafe"

	"github.com/ncruces/go-strftime"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// TimeFormat is the format of a time column, in the directives of strptime. The zero value is ISO
// 8601.
type TimeFormat struct {
	Layout          string // of package time
	fraction, zoned bool   // it has a fraction of a second; it has an offset from UTC
	Epoch           bool   // seconds since 1970
}

// epochFormat is the format of seconds since 1970. It cannot be combined with others.
const epochFormat = "%s"

var (
	// fractionFormat matches a fraction of a second. time.Parse accepts one after the seconds
	// without a directive.
	fractionFormat = regexp.MustCompile(`(%S|%T|%X)[.,]%[fLN]`)
	// lenient matches the directives that strptime reads with one digit or two, and %%, which is a
	// percent sign.
	lenient = regexp.MustCompile(`%%|%[dmIMS]`)
	// directive matches a directive. A hyphen or a colon before its letter changes how it is written.
	directive = regexp.MustCompile(`%[-:]?[EO]?(.)`)
	// packedFields matches directives without text between them. They must have all their digits,
	// since the layouts of lenient ones would be ambiguous.
	packedFields = regexp.MustCompile(`%[-:]?[A-Za-z]%[^%]`)
)

// ParseTimeFormat parses a format. why is what is allowed instead if the format cannot be used,
// else "".
func ParseTimeFormat(format string) (f TimeFormat, why string) {
	if format == epochFormat {
		return TimeFormat{Epoch: true, zoned: true}, ""
	}
	plain := fractionFormat.ReplaceAllString(format, "$1")
	f.fraction = plain != format
	strict, err := strftime.Layout(plain)
	if !packedFields.MatchString(plain) {
		plain = lenient.ReplaceAllStringFunc(plain, func(s string) string {
			if s == "%%" {
				return s
			}
			return "%-" + s[1:]
		})
	}
	layout, _ := strftime.Layout(plain)
	switch {
	case err != nil:
		return f, "a format such as %d/%m/%Y %H:%M, without digits, %s, weeks or weekdays as numbers; %f only after seconds"
	case strings.Contains(layout, "MST"):
		return f, "a format without names of zones, which mean several; %z is an offset such as +0100"
	}
	if field := namedTwice(format); field != "" {
		return f, "a format that names the " + field + " once; if cells have the start and the end of an " +
			"interval, divide them into two columns before the load"
	}
	f.zoned = strings.Contains(layout, "-07")
	f.Layout = strings.NewReplacer("-0700", "Z0700", "-07:00", "Z07:00").Replace(layout)
	// A format that writes and reads this time without loss has year, month, day and hour.
	want := time.Date(2001, 2, 3, 16, 5, 6, 0, time.UTC)
	got, err := time.Parse(f.Layout, want.Format(strict))
	day := want.Truncate(24 * time.Hour)
	if at := got.UTC(); err != nil || !at.Truncate(24*time.Hour).Equal(day) || !at.Equal(day) &&
		at.Hour() != 16 {
		return f, "a format that names a day: year, month and day, and the half of the day (%p) if hours go to 12"
	}
	return f, ""
}

// fields has the fields of a time that a directive sets, by its letter.
var fields = map[byte][]string{
	'Y': {"year"}, 'y': {"year"},
	'm': {"month"}, 'B': {"month"}, 'b': {"month"}, 'h': {"month"},
	'd': {"day"}, 'e': {"day"},
	'j': {"day of the year"},
	'H': {"hour"}, 'I': {"hour"},
	'p': {"half of the day"}, 'P': {"half of the day"},
	'M': {"minute"},
	'S': {"second"},
	'f': {"fraction"}, 'L': {"fraction"}, 'N': {"fraction"},
	'z': {"offset"},
	'c': {"month", "day", "hour", "minute", "second", "year"},
	'v': {"day", "month", "year"},
	'F': {"year", "month", "day"},
	'D': {"month", "day", "year"}, 'x': {"month", "day", "year"},
	'r': {"hour", "minute", "second", "half of the day"},
	'T': {"hour", "minute", "second"}, 'X': {"hour", "minute", "second"},
	'R': {"hour", "minute"},
}

// namedTwice returns a field that a format names twice, "" if there is none. time.Parse would take
// the last one, which may be the end of an interval.
func namedTwice(format string) string {
	named := map[string]bool{}
	for _, m := range directive.FindAllStringSubmatch(format, -1) {
		for _, field := range fields[m[1][0]] {
			if named[field] {
				return field
			}
			named[field] = true
		}
	}
	return ""
}

// Parse parses a cell. The unit of a time with a fraction is the coarsest that is exact.
func (f *TimeFormat) Parse(b []byte) (t Time, ok bool) {
	if f.Epoch {
		v, ok := ParseInt(b)
		return Time{seconds: v, Zoned: true}, ok
	}
	if len(b) == 0 || len(b) > 1<<8 {
		return t, false
	}
	at, err := time.Parse(f.Layout, unsafe.String(&b[0], len(b)))
	if err != nil || longFraction(b) {
		return t, false
	}
	t = Time{seconds: at.Unix(), nanos: int64(at.Nanosecond()), Zoned: f.zoned}
	for unit := int64(1e9); t.nanos%unit != 0; unit /= 1000 {
		t.Unit++
	}
	return t, f.fraction || t.nanos == 0
}

// longFraction reports whether a fraction has more digits than nanoseconds, which time.Parse would
// drop.
func longFraction(b []byte) bool {
	run := -1 // digits since a point
	for _, c := range b {
		switch {
		case c == '.' || c == ',':
			run = 0
		case c-'0' > 9:
			run = -1
		case run >= 0:
			if run++; run > 9 {
				return true
			}
		}
	}
	return false
}

// dayMonth matches a date that begins with the day and the month, in either order.
var dayMonth = regexp.MustCompile(
	`^(\d{1,2})([/.\-])(\d{1,2})([/.\-])(\d{4}|\d\d)(?:([ T])(\d{1,2}):(\d\d)(:\d\d)?([.,]\d+)?)?$`)

// TimeHint returns the hint for a text that is not a time in ISO 8601: the formats that it may
// have.
func TimeHint(text string) string {
	m := dayMonth.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil || m[2] != m[4] {
		return "write times like \"2016-07-01 00:00:00\", or say how they are written with " +
			"`time_format`"
	}
	formats := TimeFormats(text)
	if len(formats) == 0 {
		return "say how times are written with `time_format`"
	}
	return "say which number is the day: " + strings.Join(formats, " or ")
}

// TimeFormats returns the option time_format for a text that begins with the day and the month of a
// date: both orders, unless a number is no month. It returns none for another text.
func TimeFormats(text string) (formats []string) {
	m := dayMonth.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil || m[2] != m[4] {
		return nil
	}
	year, rest := "%Y", ""
	if len(m[5]) == 2 {
		year = "%y"
	}
	if m[6] != "" {
		rest = m[6] + "%H:%M"
	}
	if m[9] != "" {
		rest += ":%S"
	}
	if m[10] != "" {
		rest += m[10][:1] + "%f"
	}
	for _, order := range []string{"%d" + m[2] + "%m", "%m" + m[2] + "%d"} {
		format := order + m[2] + year + rest
		f, why := ParseTimeFormat(format)
		if _, ok := f.Parse([]byte(strings.TrimSpace(text))); ok && why == "" {
			formats = append(formats, loaderr.Option("time_format", format))
		}
	}
	return formats
}
