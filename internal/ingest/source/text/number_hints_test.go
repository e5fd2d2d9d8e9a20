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
	const commas = "if \",\" is between thousands, load it with `thousands=\",\"`"
	const points = "if \".\" is between thousands, load it with `thousands=\".\"`"
	const quotes = "if \"'\" is between thousands, load it with `thousands=\"'\"`"
	const blanks = "if \" \" is between thousands, load it with `thousands=\" \"`"
	for _, c := range []struct {
		cell           string
		decimal, delim byte
		want           string
	}{
		{"1,234.5", '.', ',', commas},
		{"-1,234,567", '.', ',', commas},
		{"1'234.5", '.', ';', quotes},
		{"1 234", '.', ',', blanks},
		{"1\u00a0234,5", ',', ';', blanks},
		{"1.234.567,8", ',', ';', points},
		{"1.234,5", '.', ';', points},
		{"1.234,5", '.', ',',
			"write it without signs between thousands and with a decimal point in all rows: 1234.5"},
		{"1,234", '.', ',', commas},
		{"1,234", '.', ';', commas + "; " + withComma},
		{"1.234", ',', ';', points + "; " + withPoint},
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

// TestHintsNameNoSignTwice has the option thousands, which the other decimal sign must not be.
func TestHintsNameNoSignTwice(t *testing.T) {
	for cell, want := range map[string]string{
		"1,5":   "if the comma is the decimal sign, load it with `decimal=\",\"` and without `thousands`",
		"0,123": "if the comma is the decimal sign, load it with `decimal=\",\"` and without `thousands`",
	} {
		d := &textvalue.Dialect{Decimal: '.', Thousands: ","}
		if got := numberHint(cell, d, ';'); got != want {
			t.Errorf("%q: got %q, want %q", cell, got, want)
		}
	}
	d := &textvalue.Dialect{Decimal: ',', Thousands: "."}
	want := "if the point is the decimal sign, load it with `decimal=\".\"` and without `thousands`"
	if got := numberHint("12.34", d, ';'); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestGroupsWithSignsThatAreNotASCIILookNumeric(t *testing.T) {
	for text, want := range map[string]bool{"1’234.50": true, "1\u00a0234": true, "1\u202f234,5": true,
		"5\u00a0km": false, "’": false, "é1": false} {
		if got := looksNumeric([]byte(text)); got != want {
			t.Errorf("%q: got %t", text, got)
		}
	}
}
