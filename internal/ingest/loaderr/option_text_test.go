package loaderr

import "testing"

func TestOptionsAreJSONWithoutBackticks(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Option("sort", true), "`sort=true`"},
		{Option("delimiter", ";"), "`delimiter=\";\"`"},
		{ColumnOption("clip", "a b", []any{0, nil}), "`clip={\"a b\":[0,null]}`"},
		{ColumnOption("fill", "a`<\"\n", 0), "`fill={\"a\\u0060<\\\"\\n\":0}`"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}
