package text

import (
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/textvalue"
)

// TestNumbersInOtherFormsHaveARemedy lists numbers as spreadsheets and people write them. The
// remedy for one that only needs other signs is a number that can be loaded.
func TestNumbersInOtherFormsHaveARemedy(t *testing.T) {
	const withComma = "if the comma is the decimal sign, load it with `decimal=\",\"`"
	const withPoint = "if the point is the decimal sign, load it with `decimal=\".\"`"
	const thousands = "write it without signs between thousands in all rows: "
	for _, c := range []struct {
		cell           string
		decimal, delim byte
		want           string
	}{
		{"1,234.5", '.', ',', thousands + "1234.5"},
		{"-1,234,567", '.', ',', thousands + "-1234567"},
		{"1'234.5", '.', ';', thousands + "1234.5"},
		{"1 234", '.', ',', thousands + "1234"},
		{"1\u00a0234,5", ',', ';', thousands + "1234,5"},
		{"1.234.567,8", ',', ';', thousands + "1234567,8"},
		{"1.234,5", '.', ';', thousands + "1234,5; " + withComma},
		{"1,234", '.', ',', thousands + "1234"},
		{"1,234", '.', ';', thousands + "1234; " + withComma},
		{"1.234", ',', ';', thousands + "1234; " + withPoint},
		{"0,5", '.', ';', withComma},
		{"0,5", '.', ',', "write it with a decimal point"},
		{"0.5", ',', ';', withPoint},
		{"5%", '.', ',', "write it without the per cent sign in all rows: 5"},
		{" 12.5 % ", '.', ',', "write it without the per cent sign in all rows: 12.5"},
		{"12,5%", '.', ';', "write it without the per cent sign in all rows: 12,5; " + withComma},
		{"$5", '.', ',', "write it without the sign of the currency in all rows: 5"},
		{"-5 €", '.', ',', "write it without the sign of the currency in all rows: -5"},
		{"€1,234.50", '.', ',', "write it without the sign of the currency in all rows: 1234.50"},
		{"%", '.', ',', ""},
		{"$", '.', ',', ""},
		{"", '.', ',', ""},
		{"n/a", '.', ',', ""},
		{"12a", '.', ',', ""},
		{"01/02/2020", '.', ',', ""},
		{"01.02.2020", '.', ',', ""},
		{"1,2,3", '.', ';', ""},
		{"12,34,567.8", '.', ',', ""},
		{"1'234,567.8", '.', ',', ""},
	} {
		d := &textvalue.Dialect{Decimal: c.decimal}
		if got := numberHint(c.cell, d, c.delim); got != c.want {
			t.Errorf("%q, decimal %c, delimiter %c: got %q, want %q", c.cell, c.decimal, c.delim, got,
				c.want)
		}
	}
}
