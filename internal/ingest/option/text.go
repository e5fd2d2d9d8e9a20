package option

import (
	"slices"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
)

// tabs are the spellings of a tab, for places where it cannot be typed.
var tabs = []string{"\t", `\t`, "tab"}

// Dialect returns the dialect of text files. The options must be valid.
func (o Options) Dialect() textvalue.Dialect {
	d := textvalue.DefaultDialect
	d.Header = !o.NoHeader
	if o.Delimiter != "" {
		d.Delimiter = delimiter(o.Delimiter)[0]
	}
	if o.Decimal != "" {
		d.Decimal = o.Decimal[0]
	}
	if o.TimeFormat != "" {
		d.Times, _ = textvalue.ParseTimeFormat(o.TimeFormat) // valid options have a valid one
	}
	for _, word := range o.NA {
		if d.Missing == nil {
			d.Missing = map[string]bool{}
		}
		d.Missing[word] = true
		_, number := d.Float([]byte(word))
		d.NumericMissing = d.NumericMissing || number
	}
	for option, given := range map[string]bool{
		"delimiter": o.Delimiter != "", "no_header": o.NoHeader, "decimal": o.Decimal != "",
		"na": len(o.NA) > 0, "time_format": o.TimeFormat != "",
	} {
		if given && (d.Option == "" || option < d.Option) {
			d.Option = option
		}
	}
	return d
}

// delimiter returns the delimiter that a text names.
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
	if d := delimiter(o.Delimiter); d != "" &&
		(len(d) != 1 || !strings.Contains("\t ,;|:!#$%&*/=@^~", d)) {
		return &loaderr.OptionError{
			Field: "delimiter", Value: o.Delimiter,
			Allowed: "one sign, such as , ; | or tab, that no number and no quote is written with",
		}
	}
	if o.Decimal != "" && o.Decimal == o.Delimiter {
		return textvalue.EqualMarks(o.Decimal)
	}
	if o.TimeFormat != "" && o.Time == "" {
		return &loaderr.OptionError{Field: "time_format", Value: o.TimeFormat,
			Allowed: "it only together with time"}
	}
	if o.TimeFormat != "" {
		if _, why := textvalue.ParseTimeFormat(o.TimeFormat); why != "" {
			return &loaderr.OptionError{Field: "time_format", Value: o.TimeFormat, Allowed: why}
		}
	}
	seen := make(map[string]bool, len(o.NA))
	for _, word := range o.NA {
		switch {
		case word == "" || strings.Trim(word, " \t") != word:
			return &loaderr.OptionError{
				Field: "na", Value: word,
				Allowed: "words without blanks around them; an empty cell is missing anyway",
			}
		case seen[word]:
			return &loaderr.OptionError{Field: "na", Value: word, Allowed: "each word once"}
		}
		seen[word] = true
	}
	return nil
}
