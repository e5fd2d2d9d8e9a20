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
