package text

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
)

// Numbers as people write them, but as no column of numbers has them.
var (
	// groups of three digits with a sign between them, such as 1,234.5 and 1'234
	grouped = regexp.MustCompile(`^[+-]?\d{1,3}(?:[,.'’_ \x{a0}\x{202f}]\d{3})+(?:[.,]\d+)?$`)
	// one sign between digits, such as 0,5 and 1,234
	marked = regexp.MustCompile(`^[+-]?\d*[,.]\d+$`)
)

// currencies are the signs of currencies, before or after a number.
const currencies = "$€£¥₹₽₩"

// numberHint returns what to do with a cell that is a number in another form, or "" if it is none.
func numberHint(cell string, d *textvalue.Dialect, delim byte) string {
	text := strings.Trim(cell, " \t")
	bare := strings.TrimSpace(strings.Trim(text, currencies+"%"))
	plain := bare
	separator := ""
	if mayBeGrouped([]byte(bare)) {
		plain, separator = ungroup(bare)
	}
	_, isNumber := d.Float([]byte(plain))
	if !isNumber && !marked.MatchString(plain) {
		return ""
	}
	// Its decimal sign is another one, or its only sign may be either.
	mark := ""
	if !isNumber || marked.MatchString(bare) && plain != bare {
		mark = otherMark(d, delim)
	}
	sign := ""
	switch {
	case bare != text && strings.Contains(text, "%"):
		sign = "the per cent sign"
	case bare != text:
		sign = "the sign of the currency"
	case plain != bare && d.Thousands != "":
		sign = "signs between thousands"
	case plain != bare && separator == "." && delim == ',':
		return "write it without signs between thousands and with a decimal point in all rows: " +
			strings.Replace(plain, ",", ".", 1)
	case plain != bare:
		hint := fmt.Sprintf("if %q is between thousands, load it with %s", separator,
			loaderr.Option("thousands", separator))
		if isNumber && mark != "" {
			hint += "; " + mark
		}
		return hint
	case mark == "":
		return "write it with a decimal point"
	default:
		return mark
	}
	hint := "write it without " + sign + " in all rows: " + plain
	if mark != "" {
		hint += "; " + mark
	}
	return hint
}

// otherMark returns the hint for a number whose decimal sign is not that of the dialect. It is
// empty if the comma separates cells, so that it cannot be the decimal sign.
func otherMark(d *textvalue.Dialect, delim byte) string {
	name, mark := "comma", ","
	switch {
	case d.Decimal == ',':
		name, mark = "point", "."
	case delim == ',':
		return ""
	}
	hint := "if the " + name + " is the decimal sign, load it with " + loaderr.Option("decimal", mark)
	if d.Thousands == mark {
		hint += " and without `thousands`"
	}
	return hint
}

// ungroup returns a grouped number without the signs between its groups, all of which are the first
// sign, and that sign as the option thousands names it. If another sign is between two of them, plain
// is no number.
func ungroup(text string) (plain, separator string) {
	digits := strings.TrimLeft(text, "+-")
	at := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	separator = string([]rune(digits[at:])[0])
	plain = strings.ReplaceAll(text, separator, "")
	if separator == "\u00a0" || separator == "\u202f" {
		separator = " "
	}
	return plain, separator
}
