package near

import (
	"slices"
	"testing"
)

func TestNamesThatMayHaveBeenMeantComeNearestFirst(t *testing.T) {
	names := []string{"weather", "etth2", "ETTh1", "temperature_in", "ü"}
	for asked, want := range map[string][]string{
		"ettj1": {"ETTh1", "etth2"}, "temp": {"temperature_in"}, "Ü": {"ü"}, "nothing of it": {},
		".": {"ü"}, ".x": {},
	} {
		if got := Names(asked, names); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", asked, got, want)
		}
	}
}

func TestFewNamesAreListed(t *testing.T) {
	if got := Names("ab", []string{"bb", "cb", "db", "eb", "fb", "gb"}); len(got) != most {
		t.Errorf("got %q, want %d", got, most)
	}
}
