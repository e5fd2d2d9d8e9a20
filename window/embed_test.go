package window_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/tensorcache/tensorcache/window"
)

// Inside another JSON object the types are read as strictly as by their Parse functions.
func TestTypesAreReadInsideOtherObjects(t *testing.T) {
	var request struct {
		Spec   window.Spec       `json:"spec"`
		Cuts   []window.Cut      `json:"cuts"`
		Where  window.Where      `json:"where"`
		Split  window.Split      `json:"split"`
		Rows   window.Bounds     `json:"rows"`
		Time   window.TimeBounds `json:"time"`
		At     window.TimeValue  `json:"at"`
		Step   window.Step       `json:"step"`
		Nobody *window.Split     `json:"nobody"`
	}
	const in = `{"spec":{"context_length":2},"cuts":[{"latest":true}],"where":{"items":[1]},"split":{"lengths":[1,null]},` +
		`"rows":[1,null],"time":[null,5],"at":"2016-07-01","step":"2h","nobody":null}`
	if err := json.Unmarshal([]byte(in), &request); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(request.Spec.ContextLength, request.Cuts[0].Latest, request.Where.Items,
		len(request.Split.Lengths), *request.Rows.From, request.Time.To, request.At, request.Step)
	if want := "2 true [1] 2 1 5 2016-07-01T00:00:00 2h"; got != want {
		t.Errorf("read as %s, want %s", got, want)
	}
	for _, bad := range []string{
		`{"spec":{"context_length":2,"contxt":1}}`, `{"cuts":[{"last":true}]}`, `{"where":{}}`,
		`{"split":{"length":[1]}}`,
		`{"rows":[1]}`, `{"time":[null,"noon"]}`, `{"at":"noon"}`, `{"step":"2 moons"}`,
		`{"step":{}}`,
	} {
		if err := json.Unmarshal([]byte(bad), &request); !errors.Is(err, window.ErrSpec) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if w, err := window.ParseWhere([]byte(`{"rows":[-5,null]}`)); err != nil || *w.Rows.From != -5 {
		t.Errorf("%+v, %v", w, err)
	}
	if s, err := window.ParseSplit([]byte(`{"items":[0.5,null],"names":["a","b"]}`)); err != nil ||
		len(s.Names) != 2 {
		t.Errorf("%+v, %v", s, err)
	}
}
