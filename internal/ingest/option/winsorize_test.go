package option

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestQuantilesOfAFlagMayBeSeparatedByCommas(t *testing.T) {
	for text, want := range map[string]string{
		"0.01,0.99":                  `[0.01,0.99]`,
		"0.01:0.99":                  `[0.01,0.99]`,
		"*=0,1":                      `[0,1]`,
		"a=0.01:0.99,b=0.05:0.95":    `{"a":[0.01,0.99],"b":[0.05,0.95]}`,
		"a=0.01,0.99,*=0.05,0.95":    `{"*":[0.05,0.95],"a":[0.01,0.99]}`,
		"0.01,0.99,a=none":           `{"*":[0.01,0.99],"a":"none"}`,
		"a=0.1,0.9,b=none,c=0.1,0.9": `{"a":[0.1,0.9],"c":[0.1,0.9]}`,
		"none":                       `"none"`,
		"0.01":                       "want two quantiles as 0.01,0.99, or none",
		"0.01,":                      "want two quantiles",
		"0.01,0.5,0.99":              "want two quantiles",
		"a=0.01,b=0.99":              "want two quantiles",
		"low,high":                   "want two quantiles",
		"0.01,inf":                   "want two quantiles",
		"a=0.01:0.99,a=0.05:0.95":    `column "a" is set twice`,
		"=0.01:0.99":                 "empty part",
		"1e-2, 0.99":                 "want two quantiles",
	} {
		var o Options
		for _, f := range StepFlags(&o) {
			if f.Name != "winsorize" {
				continue
			}
			if err := f.Set(text); err != nil {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q: %v, want %s", text, err, want)
				}
				continue
			}
			got, err := json.Marshal(o.Winsorize)
			if err != nil || string(got) != want {
				t.Errorf("%q is %s, want %s (%v)", text, got, want, err)
			}
		}
	}
}

func TestWrongQuantilesInJSONAreRefused(t *testing.T) {
	for _, text := range []string{`0.5`, `[0.5]`, `[0.1, null]`, `[0.1, 0.5, 0.9]`, `"most"`,
		`true`, `["a"]`, `{"a": 0.5}`, `{"a": null}`, `{"a": {}}`, `[[0.1, 0.9]]`} {
		var p PerColumn[Winsorize]
		if err := json.Unmarshal([]byte(text), &p); err == nil {
			t.Errorf("%s is read as %+v", text, p)
		}
	}
}
