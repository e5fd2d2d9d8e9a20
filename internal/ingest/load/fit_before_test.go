package load

import (
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// TestEqualTimesHaveOneRecipe writes times in several forms. The recipe must have one form, so that
// equal options have equal recipes. A load does not know the zone of its times before it reads them:
// a time without a zone and one of UTC differ.
func TestEqualTimesHaveOneRecipe(t *testing.T) {
	recipe := func(before string) string {
		b, err := option.Options{Time: "t", Scale: option.All(option.ScaleStandard),
			FitBefore: []byte(before)}.Recipe()
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	seen := map[string]string{}
	for form, texts := range map[string][]string{
		`"2020-01-03T00:00:00"`:       {`"2020-01-03"`, `"2020-01-03 00:00"`},
		`"2020-01-03T00:00:00Z"`:      {`"2020-01-03 00:00:00+00:00"`, `"2020-01-03T00:00-00:00"`},
		`"2020-01-03T01:00:00+01:00"`: {`"2020-01-03 01:00+01:00"`},
	} {
		for _, text := range texts {
			if got, want := recipe(text), recipe(form); got != want {
				t.Errorf("%s has the recipe %s, want %s", text, got, want)
			}
		}
		if other := seen[recipe(form)]; other != "" {
			t.Errorf("%s and %s have one recipe", form, other)
		}
		seen[recipe(form)] = form
	}
	if recipe(`5`) == recipe(`6`) || recipe(`null`) != recipe(``) {
		t.Error("different integers have one recipe, or null differs from an empty time")
	}
	_, _, err := loadInProcess(t,
		option.Options{Sources: []string{loadtest.File(t, "x.csv", "t,a\n1,2\n")}, Time: "t",
			Scale: option.All(option.ScaleStandard), FitBefore: []byte(`"2020-01-03"`)})
	loadtest.Refused(t, err, `fit_before: "2020-01-03T00:00:00": want an integer`, "")
	_, _, err = loadInProcess(t,
		option.Options{Sources: []string{loadtest.File(t, "x.csv", "t,a\n1,2\n")}, Time: "t",
			Scale: option.All(option.ScaleStandard), FitBefore: []byte(`"2020-01-03 00:00+01:00"`)})
	loadtest.Refused(t, err, `fit_before: "2020-01-03T00:00:00+01:00": want an integer`, "")
	if err := (option.Options{Time: "t", Scale: option.All(option.ScaleStandard),
		FitBefore: []byte(`"yesterday"`)}).Validate(); err == nil ||
		!strings.Contains(err.Error(), `fit_before: "yesterday": want a time like`) {
		t.Errorf("%v", err)
	}
}
