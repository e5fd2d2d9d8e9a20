package option

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/tensorcache/tensorcache/internal/testseed" // for rapid
)

func TestPerColumnSettingsRoundTripThroughJSON(t *testing.T) {
	fill := rapid.Custom(func(r *rapid.T) Fill {
		return rapid.SampledFrom([]Fill{{}, FillWith(0), FillWith(-2.5), {How: "mean"},
			{How: "linear"}}).Draw(r, "fill")
	})
	clip := rapid.SampledFrom([]Clip{{}, {High: 1, HasLow: true, HasHigh: true},
		{Low: -3, HasLow: true}, {High: 7, HasHigh: true}})
	winsorize := rapid.SampledFrom([]Winsorize{{}, {Low: 0.01, High: 0.99, On: true},
		{High: 1, On: true}})
	rapid.Check(t, func(r *rapid.T) {
		comesBack(r, drawSetting(r, fill))
		comesBack(r, drawSetting(r, clip))
		comesBack(r, drawSetting(r, winsorize))
		comesBack(r, drawSetting(r, rapid.Bool()))
		comesBack(r, drawSetting(r, rapid.SampledFrom([]string{"", "standard", "robust"})))
	})
}

// drawSetting draws one setting for all columns, or a setting per column.
func drawSetting[T comparable](r *rapid.T, v *rapid.Generator[T]) PerColumn[T] {
	if rapid.Bool().Draw(r, "one for all") {
		return All(v.Draw(r, "setting"))
	}
	return ByColumn(rapid.MapOf(rapid.SampledFrom([]string{"a", "b", "c", "*"}), v).Draw(
		r, "settings"))
}

func comesBack[T comparable](r *rapid.T, p PerColumn[T]) {
	text, err := json.Marshal(p)
	if err != nil {
		r.Fatal(err)
	}
	var back PerColumn[T]
	if err := json.Unmarshal(text, &back); err != nil {
		r.Fatalf("%s: %v", text, err)
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		if back.Of(name) != p.Of(name) {
			r.Fatalf("%s: column %s has %v, want %v", text, name, back.Of(name), p.Of(name))
		}
	}
	again, err := json.Marshal(back)
	if err != nil || !bytes.Equal(again, text) {
		r.Fatalf("%s became %s, %v", text, again, err)
	}
	if nothing := p.Of("a") == p.Of("d") && p.Of("b") == p.Of("d") && p.Of("c") == p.Of("d") &&
		p.Of("d") == *new(T); p.IsZero() != nothing {
		r.Fatalf("%s: IsZero is %v", text, p.IsZero())
	}
}

func TestAListOfNamesSetsBooleansOnly(t *testing.T) {
	var flags PerColumn[bool]
	if err := json.Unmarshal([]byte(` ["a"]`), &flags); err != nil || !flags.Of("a") ||
		flags.Of("b") {
		t.Errorf("%v, %v", flags, err)
	}
	var texts PerColumn[string]
	if json.Unmarshal([]byte(`["a"]`), &texts) == nil {
		t.Error("a list of names was accepted as a setting of texts")
	}
}
