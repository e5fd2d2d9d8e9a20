package option

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/charset"
	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
)

// tabs are the spellings of a tab, for places where it cannot be typed.
var tabs = []string{"\t", `\t`, "tab"}

// Dialect returns the dialect of text files. The options must be valid.
func (o Options) Dialect() textvalue.Dialect {
	d := textvalue.DefaultDialect
	d.Header, d.Encoding = !o.NoHeader, encoding(o.Encoding)
	if o.Delimiter != "" {
		d.Delimiter = delimiter(o.Delimiter)[0]
	}
	if o.TimeFormat != "" {
		d.Times, _ = textvalue.ParseTimeFormat(o.TimeFormat) // valid options have a valid one
	}
	for _, word := range o.NA {
		if d.Missing == nil {
			d.Missing = map[string]bool{}
		}
		d.Missing[word] = true
	}
	d.Thousands, d.Skip = o.Thousands, o.Skip
	if o.Comment != "" {
		d.Comment = o.Comment[0]
	}
	mark := byte(0)
	switch {
	case o.Decimal != "":
		mark = o.Decimal[0]
	case o.Thousands == ".":
		mark = ','
	case o.Thousands == ",":
		mark = '.'
	}
	d.SetDecimal(mark)
	for option, given := range map[string]bool{
		"encoding": o.Encoding != "", "delimiter": o.Delimiter != "", "no_header": o.NoHeader,
		"decimal": o.Decimal != "", "thousands": o.Thousands != "", "skip": o.Skip != 0,
		"comment": o.Comment != "", "na": len(o.NA) > 0, "time_format": o.TimeFormat != "",
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

// encoding returns the name of an encoding, the same for all spellings.
func encoding(name string) string {
	if e, ok := charset.Named(name); ok {
		return e.String()
	}
	return name // validateText refuses it
}

// validateText checks the options of text files.
func (o Options) validateText() error {
	if _, ok := charset.Named(o.Encoding); o.Encoding != "" && !ok {
		return &loaderr.OptionError{
			Field: "encoding", Value: o.Encoding,
			Allowed: "the name of an encoding, such as utf-8, utf-16, cp1252, latin-1, shift_jis " +
				"or gbk",
		}
	}
	if err := oneOf("decimal", o.Decimal, ".", ","); err != nil {
		return err
	}
	if d := delimiter(o.Delimiter); d != "" &&
		(len(d) != 1 || !strings.Contains(textvalue.Delimiters, d)) {
		return &loaderr.OptionError{
			Field: "delimiter", Value: o.Delimiter,
			Allowed: "one sign, such as , ; | or tab, that no number and no quote is written with",
		}
	}
	if o.Decimal != "" && o.Decimal == o.Delimiter {
		return textvalue.EqualMarks(o.Decimal, o.Thousands)
	}
	if err := o.validateThousands(); err != nil {
		return err
	}
	if o.Skip < 0 {
		return &loaderr.OptionError{Field: "skip", Value: strconv.FormatInt(o.Skip, 10), Bare: true,
			Allowed: "the number of lines above the header, 0 or more"}
	}
	if c := o.Comment; c != "" && (len(c) > 1 || !strings.Contains(textvalue.CommentSigns, c) ||
		c == delimiter(o.Delimiter)) {
		return textvalue.CommentError(c)
	}
	if o.TimeFormat != "" && o.Time == "" {
		return &loaderr.OptionError{Field: "time_format", Value: o.TimeFormat,
			Allowed: "it only together with time"}
	}
	if err := o.CheckTimeFormat(); err != nil {
		return err
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

// validateThousands checks the sign between thousands.
func (o Options) validateThousands() error {
	if t := o.Thousands; t != "" && !strings.Contains(",.'’_ ", t) {
		return &loaderr.OptionError{Field: "thousands", Value: t,
			Allowed: "one of the signs , . ' ’ _ or a blank, which stands for no-break spaces too"}
	}
	if o.Thousands != "" && o.Thousands == o.Decimal {
		return &loaderr.OptionError{Field: "thousands", Value: o.Thousands,
			Allowed: "another sign than the decimal"}
	}
	return nil
}

// CheckTimeFormat returns an error if times cannot be parsed with the option time_format.
func (o Options) CheckTimeFormat() error {
	if o.TimeFormat == "" {
		return nil
	}
	if _, why := textvalue.ParseTimeFormat(o.TimeFormat); why != "" {
		return &loaderr.OptionError{Field: "time_format", Value: o.TimeFormat, Allowed: why}
	}
	return nil
}
