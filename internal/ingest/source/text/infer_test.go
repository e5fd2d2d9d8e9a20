package text

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
)

// TestOnlyFormsOfNumbersLookNumeric compares words of digits, marks and letters with the forms of
// numbers: digits and marks, which an exponent may follow.
func TestOnlyFormsOfNumbersLookNumeric(t *testing.T) {
	form := regexp.MustCompile(`^[^a-zA-Z]*[0-9][^a-zA-Z]*$|^[^a-zA-Z]*[0-9][.,]?[eE][+-]?[0-9]+$`)
	check := func(t interface{ Errorf(string, ...any) }, word string) {
		if got, want := looksNumeric([]byte(word)), form.MatchString(word); got != want {
			t.Errorf("%q looks numeric: %v, want %v", word, got, want)
		}
	}
	for _, word := range []string{"E000023", "B000444", "5E", "E", "1e5", "1.5E+3", "1,5e-3", "1.e5",
		"12E3A", "1e5e3", "-", "7", "1.234,5", "01/02/2020", "1e", "1e+", "e5", "1-e5",
		"1.,e5", ".e5"} {
		check(t, word)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.StringMatching(`[0-9eEA.,+/-]{0,8}`).Draw(t, "word"))
	})
}
