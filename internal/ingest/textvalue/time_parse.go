package textvalue

import "strings"

// Parse parses a cell as Python's strptime does, except that numbers next to each other have all
// their digits, that a fraction has up to nine digits or none, and that an offset has none. The unit
// of the time is the coarsest that is exact.
func (f *TimeFormat) Parse(b []byte) (t Time, ok bool) {
	if f.Epoch {
		v, ok := ParseInt(b)
		return Time{seconds: v, Zoned: true}, ok
	}
	p := timeParser{rest: b, year: 1970, month: 1, day: 1}
	for i := 0; i < len(f.directives); i++ {
		d := f.directives[i]
		if d.optional && (len(p.rest) == 0 || p.rest[0] != d.text) {
			i++
		} else if !p.read(d) {
			return t, false
		}
	}
	if len(p.rest) > 0 || p.year == 0 || p.day > daysIn(p.year, p.month) ||
		p.dayOfYear > 365+daysIn(p.year, 2)-28 {
		return t, false
	}
	t = Time{
		seconds: (days(p.year, p.month, p.day)+max(0, p.dayOfYear-1))*86400 + p.hour*3600 +
			p.minute*60 + p.second - p.offset,
		nanos: p.nanos,
		Zoned: p.zoned,
	}
	for unit := int64(1e9); t.nanos%unit != 0; unit /= 1000 {
		t.Unit++
	}
	return t, true
}

// timeParser parses a text by the directives of a format.
type timeParser struct {
	rest                 []byte
	year, month, day     int64
	dayOfYear            int64 // 0 if the format has month and day
	hour, minute, second int64
	nanos, offset        int64 // of a second; seconds east of UTC
	zoned                bool
}

// read parses what a directive stands for.
func (p *timeParser) read(d directive) (ok bool) {
	switch d.letter {
	case 0:
		return p.readText(d.text)
	case 'Y':
		p.year, ok = p.number(4, 4)
	case 'y':
		if p.year, ok = p.number(2, 2); p.year < 69 {
			p.year += 100
		}
		p.year += 1900
	case 'm':
		p.month, ok = p.field(d, 1, 12)
	case 'd', 'e':
		p.day, ok = p.field(d, 1, 31)
	case 'j':
		least := 1
		if d.exact {
			least = 3
		}
		p.dayOfYear, ok = p.number(least, 3)
		ok = ok && p.dayOfYear > 0
	case 'H':
		p.hour, ok = p.field(d, 0, 23)
	case 'I':
		hour, good := p.field(d, 1, 12)
		p.hour, ok = p.hour+hour%12, good
	case 'p', 'P':
		half, good := p.name(halves, 0)
		p.hour, ok = p.hour+12*half, good
	case 'M':
		p.minute, ok = p.field(d, 0, 59)
	case 'S':
		p.second, ok = p.field(d, 0, 59)
	case 'f', 'L', 'N':
		return p.readFraction(d)
	case 'z':
		return p.readOffset()
	case 'b', 'h':
		p.month, ok = p.name(months, 3)
		p.month++
	case 'B':
		p.month, ok = p.name(months, 0)
		p.month++
	case 'a':
		_, ok = p.name(weekdays, 3)
	case 'A':
		_, ok = p.name(weekdays, 0)
	}
	return ok
}

// readText skips a byte of the format, or blanks.
func (p *timeParser) readText(text byte) bool {
	if len(p.rest) == 0 || lower(p.rest[0]) != lower(text) && (text != ' ' || !isBlank(p.rest[0])) {
		return false
	}
	p.rest = p.rest[1:]
	for text == ' ' && len(p.rest) > 0 && isBlank(p.rest[0]) {
		p.rest = p.rest[1:]
	}
	return true
}

// lower returns a letter of ASCII in lower case, and any other byte as it is.
func lower(b byte) byte {
	if b-'A' <= 'Z'-'A' {
		return b + 'a' - 'A'
	}
	return b
}

// number parses a number of least to most digits.
func (p *timeParser) number(least, most int) (v int64, ok bool) {
	n := 0
	for ; n < most && n < len(p.rest) && p.rest[n]-'0' <= 9; n++ {
		v = v*10 + int64(p.rest[n]-'0')
	}
	p.rest = p.rest[n:]
	return v, n >= least
}

// field parses a number of two digits, or one unless it is exact.
func (p *timeParser) field(d directive, smallest, largest int64) (v int64, ok bool) {
	least := 2
	if !d.exact {
		least = 1
		if (d.letter == 'd' || d.letter == 'e') && len(p.rest) > 0 && p.rest[0] == ' ' {
			p.rest = p.rest[1:]
		}
	}
	v, ok = p.number(least, 2)
	return v, ok && v >= smallest && v <= largest
}

// readFraction parses the digits of a fraction of a second.
func (p *timeParser) readFraction(d directive) bool {
	least, most := 1, 9
	if d.exact {
		least, most = 6, 6
	}
	before := len(p.rest)
	v, ok := p.number(least, most)
	for range 9 - (before - len(p.rest)) {
		v *= 10
	}
	p.nanos = v
	return ok
}

// readOffset parses Z, ±hhmm, ±hh:mm, ±hhmmss or ±hh:mm:ss.
func (p *timeParser) readOffset() bool {
	p.zoned = true
	if len(p.rest) == 0 {
		return false
	}
	sign := p.rest[0]
	if p.rest = p.rest[1:]; sign != '+' && sign != '-' {
		return sign == 'Z'
	}
	hours, ok := p.number(2, 2)
	colon := p.skipColon()
	minutes, ok2 := p.number(2, 2)
	ok = ok && ok2 && hours < 24 && minutes < 60
	p.offset = hours*3600 + minutes*60
	if len(p.rest) > 0 && (colon && p.rest[0] == ':' || !colon && p.rest[0]-'0' <= 9) {
		p.skipColon()
		seconds, ok3 := p.number(2, 2)
		ok = ok && ok3 && seconds < 60
		p.offset += seconds
	}
	if sign == '-' {
		p.offset = -p.offset
	}
	return ok
}

func (p *timeParser) skipColon() bool {
	skips := len(p.rest) > 0 && p.rest[0] == ':'
	if skips {
		p.rest = p.rest[1:]
	}
	return skips
}

// Names that directives stand for, in any case.
var (
	halves = []string{"AM", "PM"}
	months = []string{"January", "February", "March", "April", "May", "June", "July", "August",
		"September", "October", "November", "December"}
	weekdays = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
)

// name parses one of some names, or its first letters if letters is not 0, and returns its place.
func (p *timeParser) name(names []string, letters int) (place int64, ok bool) {
	for i, name := range names {
		if letters > 0 {
			name = name[:letters]
		}
		if n := len(name); len(p.rest) >= n && strings.EqualFold(string(p.rest[:n]), name) {
			p.rest = p.rest[n:]
			return int64(i), true
		}
	}
	return 0, false
}
