package main

import (
	"slices"
	"testing"
)

func TestNamesAreAListOfCommasOrOfJSON(t *testing.T) {
	for text, want := range map[string][]string{
		"a": {"a"}, "a,b": {"a", "b"}, `"a,b",c`: {"a,b", "c"}, `["a,b", "c"]`: {"a,b", "c"},
		`["[kW]"]`: {"[kW]"}, `["a\nb"]`: {"a\nb"},
		"": nil, "a,,b": nil, "[]": nil, `[""]`: nil, "[1]": nil, "[kW]": nil, `["a"`: nil,
		`a"b`: nil, "a\nb": nil,
	} {
		var got []string
		if err := (namesFlag{&got}).Set(text); (err == nil) != (want != nil) ||
			!slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
}
