package load

import (
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
)

// TestEqualTimesHaveOneRecipe writes one time in several forms and zones. The recipe must have one
// form, so that equal options have equal recipes.
func TestEqualTimesHaveOneRecipe(t *testing.T) {
	recipe := func(before string) string {
		b, err := option.Options{Time: "t", Scale: option.All(option.ScaleStandard),
			FitBefore: []byte(before)}.Recipe()
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, text := range []string{`"2020-01-03T00:00:00"`, `"2020-01-03 00:00:00Z"`,
		`"2020-01-03T01:00:00+01:00"`} {
		if got, want := recipe(text), recipe(`"2020-01-03"`); got != want {
			t.Errorf("%s has the recipe %s, want %s", text, got, want)
		}
	}
	if recipe(`5`) == recipe(`6`) || recipe(`null`) != recipe(``) {
		t.Error("different integers have one recipe, or null differs from an empty time")
	}
	_, _, err := loadInProcess(t,
		option.Options{Sources: []string{loadtest.File(t, "x.csv", "t,a\n1,2\n")}, Time: "t",
			Scale: option.All(option.ScaleStandard), FitBefore: []byte(`"2020-01-03"`)})
	loadtest.Refused(t, err, `fit_before: "2020-01-03T00:00:00Z": want an integer`, "")
	if err := (option.Options{Time: "t", Scale: option.All(option.ScaleStandard),
		FitBefore: []byte(`"yesterday"`)}).Validate(); err == nil ||
		!strings.Contains(err.Error(), `fit_before: "yesterday": want a time like`) {
		t.Errorf("%v", err)
	}
}
