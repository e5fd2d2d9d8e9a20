package wire

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestAProblemIsShortWhateverItQuotes: what begins it and what is wanted, at its end, stay.
func TestAProblemIsShortWhateverItQuotes(t *testing.T) {
	for _, of := range []string{"a", "ä", "語", "🙂"} {
		for extra := range 4 { // the cut is at every place within a letter
			value := strings.Repeat("x", extra) + strings.Repeat(of, 10_000)
			p := NewProblem(InvalidSpec, "anchor: got %q, want start or end", value).
				WithField(value)
			if len(p.Detail) > longestDetail+len("…") || len(p.Field) > longestField+len("…") {
				t.Errorf("%d bytes of detail, %d of field", len(p.Detail), len(p.Field))
			}
			if !strings.HasPrefix(p.Detail, `anchor: got "`+value[:1000-1000%len(of)]) &&
				extra == 0 || !strings.HasPrefix(p.Detail, `anchor: got "`) ||
				!strings.HasSuffix(p.Detail, `", want start or end`) {
				t.Error(p.Detail)
			}
			if !utf8.ValidString(p.Detail) || !utf8.ValidString(p.Field) {
				t.Errorf("%q %q", p.Detail, p.Field)
			}
		}
	}
	whole := strings.Repeat("a", longestDetail)
	if p := NewProblem(InvalidSpec, "%s", whole).WithField(
		whole[:longestField]); p.Detail != whole || p.Field != whole[:longestField] {
		t.Error("what is not too long is shortened")
	}
}
