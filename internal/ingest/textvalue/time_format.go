package textvalue

import (
	"regexp"
	"strings"
)

// TimeFormat is the format of a time column, in the directives of strptime. The zero value is ISO
// 8601.
type TimeFormat struct {
	directives []directive
	Epoch      bool // seconds since 1970
}

// IsZero reports whether there is no format: times are in the forms of [ParseTimeCell].
func (f *TimeFormat) IsZero() bool { return len(f.directives) == 0 && !f.Epoch }

// directive is a directive of strptime, or a byte of the text between directives.
type directive struct {
	letter byte // 0 for text
	text   byte // a blank is one or more of them
	exact  bool // a number must have all its digits, because it is next to another
	// it and the next directive, a fraction of a second, may be absent
	optional bool
}

// epochFormat is the format of seconds since 1970. It cannot be combined with others.
const epochFormat = "%s"

// anyDirective matches a directive. A hyphen or a colon before its letter changes how it is written.
var anyDirective = regexp.MustCompile(`%[-:]?[EO]?(.)`)

// composed has the directives that stand for several.
var composed = map[string]string{
	"c": "%a %b %e %H:%M:%S %Y", "v": "%e-%b-%Y", "F": "%Y-%m-%d", "D": "%m/%d/%y", "x": "%m/%d/%y",
	"r": "%I:%M:%S %p", "T": "%H:%M:%S", "X": "%H:%M:%S", "R": "%H:%M",
}

// fields has the fields of a time that a directive sets, by its letter. Names of weekdays set none.
var fields = map[byte][]string{
	'Y': {"year"}, 'y': {"year"},
	'm': {"month"}, 'B': {"month"}, 'b': {"month"}, 'h': {"month"},
	'd': {"day"}, 'e': {"day"},
	'j': {"month", "day"},
	'H': {"hour"}, 'I': {"hour", hourTo12},
	'p': {half}, 'P': {half},
	'M': {"minute"},
	'S': {"second"},
	'f': {"fraction"}, 'L': {"fraction"}, 'N': {"fraction"},
	'z': {"offset"},
	'a': nil, 'A': nil,
}

// Fields that a time has together or not at all.
const half, hourTo12 = "half of the day", "hour to 12"

// units are the fields of a time from the largest to the smallest.
var units = []string{"year", "month", "day", "hour", "minute", "second", "fraction"}

// numbers are the letters of directives that are numbers.
const numbers = "YymdejHIMSfLN"

// ParseTimeFormat parses a format. why is what is allowed instead if the format cannot be used,
// else "".
func ParseTimeFormat(format string) (f TimeFormat, why string) {
	if format == epochFormat {
		return TimeFormat{Epoch: true}, ""
	}
	format = anyDirective.ReplaceAllStringFunc(format, func(s string) string {
		letter := s[len(s)-1:]
		if whole := composed[letter]; whole != "" {
			return whole
		}
		return "%" + letter
	})
	named := map[string]bool{}
	twice := ""
	for at := 0; at < len(format); at++ {
		d := directive{text: format[at]}
		switch {
		case d.text == '%' && at+1 == len(format):
			return f, whyFormat
		case d.text == '%':
			at++
			d = directive{letter: format[at]}
		}
		set, known := fields[d.letter]
		switch {
		case strings.IndexByte("%nt", d.letter) >= 0:
			d = directive{text: map[byte]byte{'%': '%', 'n': ' ', 't': ' '}[d.letter]}
		case d.letter == 'Z':
			return f, "a format without names of zones, which mean several; %z is an offset such as +0100"
		case d.letter != 0 && !known:
			return f, whyFormat
		case isBlank(d.text):
			d.text = ' '
		}
		for _, field := range set {
			if named[field] && twice == "" {
				twice = field
			}
			named[field] = true
		}
		if last := len(f.directives) - 1; d.text == ' ' && last >= 0 && f.directives[last].text == ' ' {
			continue // a blank is one or more of them
		}
		f.directives = append(f.directives, d)
	}
	f.markExact()
	f.markFraction()
	return f, whyFields(named, twice)
}

const whyFormat = "a format such as %d/%m/%Y %H:%M, without %s, weeks or weekdays as numbers"

// whyFields returns what is allowed instead of a format that names these fields, "" if they are a
// time.
func whyFields(named map[string]bool, twice string) string {
	if twice != "" { // the last one, which may be the end of an interval, would win
		return "a format that names the " + twice + " once; if cells have the start and the end of an " +
			"interval, divide them into two columns before the load"
	}
	if named[half] != named[hourTo12] {
		return "a format with hours to 12 (%I) and the half of the day (%p), or with hours to 23 (%H)"
	}
	complete := named["year"]
	for i, unit := range units[1:] {
		complete = complete && (!named[unit] || named[units[i]])
	}
	if !complete {
		return "a format that has the year and every unit larger than its smallest, such as %Y-%m-%d %H"
	}
	return ""
}

// markExact marks the numbers that have another number, or a digit, next to them.
func (f *TimeFormat) markExact() {
	isNumber := func(i int, letters string) bool {
		if i < 0 || i == len(f.directives) {
			return false
		}
		d := f.directives[i]
		return d.letter == 0 && d.text-'0' <= 9 ||
			d.letter != 0 && strings.IndexByte(letters, d.letter) >= 0
	}
	for i := range f.directives {
		d := &f.directives[i]
		// a fraction has as many digits as there are
		d.exact = isNumber(i+1, numbers) || !d.isFraction() && isNumber(i-1, numbers+"z")
	}
}

// markFraction marks the point or comma between seconds and a fraction.
func (f *TimeFormat) markFraction() {
	for i := 1; i+1 < len(f.directives); i++ {
		d := &f.directives[i]
		d.optional = f.directives[i-1].letter == 'S' && (d.text == '.' || d.text == ',') &&
			f.directives[i+1].isFraction()
	}
}

// isFraction reports whether the directive is a fraction of a second.
func (d directive) isFraction() bool {
	return d.letter == 'f' || d.letter == 'L' || d.letter == 'N'
}

// isBlank reports whether a byte is white space.
func isBlank(b byte) bool { return b == ' ' || b-'\t' <= '\r'-'\t' }
