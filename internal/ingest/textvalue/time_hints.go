package textvalue

import (
	"regexp"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// Forms of days, of times of the day and of months that people write. * is any of dateSigns.
var (
	dayForms = []string{"%d*%m*%Y", "%m*%d*%Y", "%d*%m*%y", "%m*%d*%y", "%y*%m*%d",
		"%Y*%m*%d", "%Y%m%d", "%d*%b*%Y", "%d*%b*%y", "%b %d, %Y", "%b %d %Y", "%d %B %Y", "%B %d, %Y"}
	clockForms = []string{"", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p", " %I:%M%p",
		" %I:%M:%S%p"}
	monthForms = []string{"%Y*%m", "%m*%Y", "%Y%m", "%YM%m", "%b*%Y", "%b*%y", "%B*%Y"}
)

const dateSigns = "/.- "

var (
	// dateAndClock matches the T between a date and a time of the day.
	dateAndClock = regexp.MustCompile(`(\d)T(\d)`)
	// clock matches the blank before the hour of a format.
	clock = regexp.MustCompile(` (%[HI])`)
	// fraction matches the fraction of a second.
	fraction = regexp.MustCompile(`:\d\d([.,])\d`)
)

// TimeHint returns the hint for a text of the time column that is not a time without a format: the
// formats that it may have.
func TimeHint(text string) string {
	switch formats := TimeFormats(text); len(formats) {
	case 0:
		return "write times like \"2016-07-01 00:00:00\", or say how they are written with " +
			"`time_format`"
	case 1:
		return "say how times are written: " + JoinFormats(formats)
	default:
		return "say which number is the day: " + JoinFormats(formats)
	}
}

// JoinFormats joins the options time_format that a text may have, and says which years %y means.
func JoinFormats(formats []string) string {
	hint := strings.Join(formats, " or ")
	if strings.Contains(hint, "%y") {
		hint += "; %y is a year from 1969 to 2068"
	}
	return hint
}

// TimeFormats returns the options time_format that a text may have. They are several if any of two
// numbers may be the day.
func TimeFormats(text string) (options []string) {
	text = strings.TrimSpace(text)
	blank := dateAndClock.ReplaceAllString(text, "$1 $2")
	seconds := "%S"
	if m := fraction.FindStringSubmatch(text); m != nil {
		seconds += m[1] + "%f"
	}
	add := func(format string) {
		f, why := ParseTimeFormat(format)
		full := strings.Contains(format, "%B") && len(options) > 0 // May has one name
		if _, ok := f.Parse([]byte(blank)); !ok || why != "" || full {
			return
		}
		if blank != text {
			format = clock.ReplaceAllString(format, "T$1")
		}
		options = append(options, loaderr.Option("time_format", format))
	}
	each := func(form string) {
		if !strings.Contains(form, "*") {
			add(form)
			return
		}
		for _, sign := range dateSigns {
			add(strings.ReplaceAll(form, "*", string(sign)))
		}
	}
	for _, day := range dayForms {
		for _, form := range clockForms {
			each(day + strings.Replace(form, "%S", seconds, 1))
		}
	}
	for _, month := range monthForms {
		each(month)
	}
	return options
}
