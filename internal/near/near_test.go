package near

import (
	"slices"
	"testing"
)

func TestNamesAreSortedBySimilarity(t *testing.T) {
	names := []string{"weather", "etth2", "ETTh1", "temperature_in", "ü"}
	for lower, want := range map[string][]string{
		"ettj1": {"ETTh1", "etth2"}, "temp": {"temperature_in"}, "Ü": {"ü"}, "nothing of it": {},
		".": {"ü"}, ".x": {},
	} {
		if got := Names(lower, names); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", lower, got, want)
		}
	}
}

func TestNumberOfNamesIsLimited(t *testing.T) {
	if got := Names("ab", []string{"bb", "cb", "db", "eb", "fb", "gb"}); len(got) != maxNames {
		t.Errorf("got %q, want %d", got, maxNames)
	}
}

func TestNamesThatBlanksOrCommasMakeUnclearAreQuoted(t *testing.T) {
	names := []string{"a", " b", "c, d", "e f", "", `"g"`}
	if got, want := List(names), `a, " b", "c, d", e f, "", "\"g\""`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
