package loaderr

import (
	"strings"
	"testing"
)

func TestQuoteSplitsNoRune(t *testing.T) {
	for n := range 4 {
		text := strings.Repeat("a", 76+n) + strings.Repeat("€", 10)
		if got := Quote(text); strings.Contains(got, `\x`) || !strings.HasSuffix(got, `"…`) {
			t.Errorf("%q is quoted as %s", text, got)
		}
	}
	if got, want := Quote(strings.Repeat("\x80", 90)), `"`+strings.Repeat(`\x80`, 76)+
		`"…`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestOptionsQuoteTextsAlone(t *testing.T) {
	for raw, want := range map[string]string{
		`"x"`: `f: "x": want w`, `5`: "f: got 5, want w", `true`: "f: got true, want w",
		`[0,null]`: "f: got [0,null], want w", `"5"`: `f: "5": want w`,
	} {
		e := (&OptionError{Field: "f", Allowed: "w"}).WithJSON([]byte(raw))
		if got := e.Error(); got != want {
			t.Errorf("%s: got %s, want %s", raw, got, want)
		}
	}
}
