package window

import (
	"regexp"
	"strings"
	"testing"
)

// noise matches what no message shows: digits of binary fractions, and quotes within quotes.
var noise = regexp.MustCompile(`\d\.\d{10,}|\\"|\d of them`)

// TestMessagesShowNumbersAsPeopleWriteThem checks the errors of invalid specs and splits.
func TestMessagesShowNumbersAsPeopleWriteThem(t *testing.T) {
	check := func(given string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s: no error", given)
			return
		}
		text := err.Error()
		if noise.MatchString(text) || strings.Contains(text, "2305843009213693952") {
			t.Errorf("%s: %s", given, text)
		}
	}
	for _, spec := range []string{
		`{}`, `{"context_length":0}`, `{"context_length":"x"}`, `{"context_length":{"a":"b"}}`,
		`{"context_length":1,"stride":0}`, `{"context_length":1,"gap":-1}`,
		`{"context_length":1,"rows":["a","b"]}`, `{"context_length":1,"time":["a","b"]}`,
		`{"context_length":1,"max_missing":1.1}`,
		`{"context_length":1,"columns":[{"a":"b"}]}`, `{"context_length":1,"max_step":{"a":"b"}}`,
		`{"context_length":1,"anchor":["a"]}`, `{"context_length":1,"dtype":{"a":"b"}}`,
	} {
		_, err := ParseSpec([]byte(spec))
		check(spec, err)
	}
	for _, text := range []string{
		`{}`, `{"lengths":[1,2],"fractions":[0.5,0.5]}`, `{"fractions":[0.7,0.2,0.2]}`,
		`{"fractions":[0.1,0.2,0.8]}`, `{"lengths":[0,1]}`, `{"lengths":["a",1]}`,
		`{"lengths":[5]}`, `{"at_times":["a",{"b":"c"}]}`, `{"items":[["a"],{"b":"c"}]}`,
		`{"lengths":[1,1],"purge":-1}`, `{"lengths":[1,1],"names":["a"]}`,
	} {
		split, err := ParseSplit([]byte(text))
		if err == nil {
			_, err = split.Parts()
		}
		check(text, err)
	}
}
