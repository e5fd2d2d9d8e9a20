package wire

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestLongProblemsAreShortened checks that the beginning and the end of a long detail stay, and
// that it is valid UTF-8.
func TestLongProblemsAreShortened(t *testing.T) {
	for _, of := range []string{"a", "ä", "語", "🙂"} {
		for extra := range 4 { // so that the cut is at each byte of a character
			value := strings.Repeat("x", extra) + strings.Repeat(of, 10_000)
			p := NewProblem(InvalidSpec, "anchor: got %q, want start or end", value).
				WithField(value)
			if len(p.Detail) > maxDetail+len("…") || len(p.Field) > maxField+len("…") {
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
	whole := strings.Repeat("a", maxDetail)
	if p := NewProblem(InvalidSpec, "%s", whole).WithField(
		whole[:maxField]); p.Detail != whole || p.Field != whole[:maxField] {
		t.Error("what is not too long is shortened")
	}
}

func TestEveryProblemTypeHasATitleAndAStatus(t *testing.T) {
	for typ, k := range kinds {
		p := NewProblem(typ, "%d %s", 3, "rows").WithField("rows").WithHint("use %d", 4)
		if p.Type != typ || p.Title != k.title || p.Status < 400 || p.Status > 599 ||
			p.Title == "" || p.Error() != "3 rows" || p.Field != "rows" || p.Hint != "use 4" {
			t.Errorf("%+v", p)
		}
		if strings.ToLower(p.Title) != p.Title {
			t.Errorf("the title %q has capitals", p.Title)
		}
	}
	if p := NewProblem("no such", "x"); p.Type != Internal || p.Status != 500 {
		t.Errorf("%+v", p)
	}
}
