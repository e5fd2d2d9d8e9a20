package sampler

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// maxSpecValue is how many bytes of a value specDifference shows.
const maxSpecValue = 80

// specDifference lists the fields that differ between two values of [Cursor.Spec], with both
// values. It returns nil if one is not known.
func specDifference(got, want string) []string {
	a, b := specFields(got), specFields(want)
	if a == nil || b == nil {
		return nil
	}
	names := maps.Clone(a)
	maps.Copy(names, b)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if x, y := specValue(a[name]), specValue(b[name]); string(a[name]) != string(b[name]) {
			out = append(out, fmt.Sprintf("%s is %s, want %s", name, x, y))
		}
	}
	return out
}

// specFields returns the fields of a spec, and its cuts as one more.
func specFields(text string) map[string]json.RawMessage {
	var of struct {
		Spec map[string]json.RawMessage `json:"spec"`
		Cuts json.RawMessage            `json:"cuts"`
	}
	if json.Unmarshal([]byte(text), &of) != nil || of.Spec == nil {
		return nil
	}
	of.Spec["cuts"] = of.Cuts
	return of.Spec
}

// specValue returns a value as a message shows it.
func specValue(raw json.RawMessage) string {
	switch {
	case raw == nil:
		return "not given"
	case len(raw) > maxSpecValue:
		return string(raw[:maxSpecValue]) + "…"
	}
	return string(raw)
}
