package ingest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/layout"
)

// dialect is how text files are written, as far as the options say it.
type dialect struct {
	option  string // the first option of text files that is given, "" for none
	delim   byte   // 0 where the name of a file tells
	point   byte
	header  bool
	missing map[string]bool // words for no value, beside those of isMissing
	times   timeFormat      // of the time column
	numbers bool            // some of these words are numbers: every cell must be looked at as a word first
}

// defaultDialect is that of no option.
var defaultDialect = dialect{point: '.', header: true}

// tabs are how a tab is written where one cannot be typed.
var tabs = []string{"\t", `\t`, "tab"}

// dialect is that of valid options.
func (o Options) dialect() dialect {
	d := defaultDialect
	d.header = !o.NoHeader
	if o.Delimiter != "" {
		d.delim = delimiter(o.Delimiter)[0]
	}
	if o.Decimal != "" {
		d.point = o.Decimal[0]
	}
	if o.TimeFormat != "" {
		d.times, _ = parseTimeFormat(o.TimeFormat) // valid options have a valid one
	}
	for _, word := range o.NA {
		if d.missing == nil {
			d.missing = map[string]bool{}
		}
		d.missing[word] = true
		_, number := d.float([]byte(word))
		d.numbers = d.numbers || number
	}
	for option, given := range map[string]bool{"delimiter": o.Delimiter != "", "no_header": o.NoHeader, "decimal": o.Decimal != "", "na": len(o.NA) > 0, "time_format": o.TimeFormat != ""} {
		if given && (d.option == "" || option < d.option) {
			d.option = option
		}
	}
	return d
}

func delimiter(text string) string {
	if slices.Contains(tabs, text) {
		return "\t"
	}
	return text
}

// validateText checks the options of text files.
func (o Options) validateText() error {
	if err := oneOf("decimal", o.Decimal, ".", ","); err != nil {
		return err
	}
	if d := delimiter(o.Delimiter); d != "" && (len(d) != 1 || !strings.Contains("\t ,;|:!#$%&*/=@^~", d)) {
		return &OptionError{Field: "delimiter", Value: o.Delimiter, Allowed: "one sign, such as , ; | or tab, that no number and no quote is written with"}
	}
	if o.Decimal != "" && o.Decimal == o.Delimiter {
		return equalMarks(o.Decimal)
	}
	if o.TimeFormat != "" && o.Time == "" {
		return &OptionError{Field: "time_format", Value: o.TimeFormat, Allowed: "it only together with time"}
	}
	if o.TimeFormat != "" {
		if _, why := parseTimeFormat(o.TimeFormat); why != "" {
			return &OptionError{Field: "time_format", Value: o.TimeFormat, Allowed: why}
		}
	}
	seen := make(map[string]bool, len(o.NA))
	for _, word := range o.NA {
		switch {
		case word == "" || strings.Trim(word, " \t") != word:
			return &OptionError{Field: "na", Value: word, Allowed: "words without blanks around them; an empty cell is missing anyway"}
		case seen[word]:
			return &OptionError{Field: "na", Value: word, Allowed: "each word once"}
		}
		seen[word] = true
	}
	return nil
}

func equalMarks(decimal string) error {
	return &OptionError{Field: "decimal", Value: decimal, Allowed: "another sign than the delimiter", Hint: `name the sign between cells with --delimiter, such as --delimiter ";"`}
}

// only refuses the options of text files for what is none.
func (d dialect) only(path string) error {
	if d.option == "" {
		return nil
	}
	return &OptionError{Field: d.option, Allowed: fmt.Sprintf("it only for CSV and TSV files, not for %s", path)}
}

// isMissing tells whether a cell stands for no value.
func (d *dialect) isMissing(b []byte) bool { return isMissing(b) || d.missing[string(b)] }

// formatted tells whether the cells of a role are times in the format that the options say.
func (d *dialect) formatted(role layout.Role) bool {
	return role == layout.RoleTime && (d.times.layout != "" || d.times.epoch)
}

// time reads a cell as a time.
func (d *dialect) time(b []byte, role layout.Role) (instant, bool) {
	if d.formatted(role) {
		return d.times.parse(b)
	}
	return parseTime(b)
}

// float is parseFloat with the decimal sign of the dialect.
func (d *dialect) float(b []byte) (v float64, ok bool) {
	if d.point == '.' {
		return parseFloat(b)
	}
	if bytes.IndexByte(b, '.') >= 0 || len(b) > 1<<10 {
		return 0, false
	}
	return parseFloat(bytes.Replace(b, []byte{d.point}, []byte{'.'}, 1))
}
