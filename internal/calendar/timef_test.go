package calendar

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"
)

// TestFrequenciesHaveTheFeaturesOfGluonTS compares with vectors of GluonTS and Time-Series-Library,
// which clients/python/tests_peers/make_calendar.py made: names, order, and values to the last bit.
func TestFrequenciesHaveTheFeaturesOfGluonTS(t *testing.T) {
	text, err := os.ReadFile("testdata/timeF.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Times       []int64
		Features    map[string][]float32
		Frequencies map[string][]string // null if no pandas has features for it
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	known := 0
	for frequency, names := range want.Frequencies {
		got, ok := OfFrequency(frequency)
		if ok != (names != nil) || !slices.Equal(got, names) {
			t.Errorf("%s has %v (%v), want %v", frequency, got, ok, names)
		}
		if ok {
			known++
		}
	}
	if known < 40 || len(want.Features) != 8 {
		t.Errorf("%d frequencies and %d features in the vectors", known, len(want.Features))
	}
	for name, each := range want.Features {
		c, ok := Of(name)
		if !ok {
			t.Errorf("%s is no feature", name)
			continue
		}
		var clock Clock
		values, out := NewValues([]Column{c}, "s", time.UTC), lists(1, 1)
		for row, at := range want.Times {
			if values.Of(&clock, []int64{at}, int64(row), out); out[0][0] != each[row] {
				t.Errorf("%s of %d s is %v, want %v", name, at, out[0][0], each[row])
			}
		}
	}
}

func TestFrequenciesThatAreUnknown(t *testing.T) {
	for _, frequency := range []string{"", "15", "min15", "-h", "h-MON", "W-", "W-XYZ", "W-JAN", "ME-JAN",
		"1.5h", "ms", "fortnight", "h,D"} {
		if names, ok := OfFrequency(frequency); ok {
			t.Errorf("%q has %v", frequency, names)
		}
	}
}
