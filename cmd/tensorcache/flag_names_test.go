package main

import (
	"testing"

	"github.com/spf13/cobra"
)

// newVerb returns a verb of the command line.
func newVerb(t *testing.T, name string) *cobra.Command {
	t.Helper()
	cmd, _, err := newRoot().Find([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestMessagesNameFlags(t *testing.T) {
	for _, c := range []struct{ verb, text, field, want string }{
		{"load", "leave it out with `columns`", "", "leave it out with --columns"},
		{"load", "use `sort=true`", "", "use --sort"},
		{"load", "`fill={\"a\":0}`, or not", "", "--fill a=0, or not"},
		{"load", "`fill={\"a b\":\"linear\"}`", "", `--fill "a b=linear"`},
		{"load", "`fill={\"a\\u0060$'\":0}`", "", "--fill 'a`$'\\''=0'"},
		{"load", "`clip={\"a\":[-1000000,1000000]}`", "", "--clip a=-1000000:1000000"},
		{"load", "`clip={\"a\":[0,null]}`", "", "--clip a=0:"},
		{"load", "`time_format=\"%d/%m\"`", "", `--time-format "%d/%m"`},
		{"load", "`delimiter=\";\"`", "", `--delimiter ";"`},
		{"plan", "stride: got 0", "stride", "--stride: got 0"},
		{"plan", "lengths: got 0", "lengths", "--split-lengths: got 0"},
		{"plan", "gap: at most context_length + gap = 5", "gap",
			"--gap: at most --context-length + gap = 5"},
		{"plan", `no column is named "fit_rows"; near: fit_row, item_id`, "columns",
			`no column is named "fit_rows"; near: fit_row, item_id`},
		{"plan", "order: got random_start", "", "order: got random_start"},
		{"ls", "a max_step of it", "", "a --max-step of it"},
	} {
		if got := flagsFor(newVerb(t, c.verb)).inMessage(c.text, c.field); got != c.want {
			t.Errorf("%s: %q is %q, want %q", c.verb, c.text, got, c.want)
		}
	}
}

func TestValuesOfHintsAreThoseOfFlags(t *testing.T) {
	for hint, want := range map[string]string{
		"`item_id=[\"a\",\"b\"]`":      "--item-id a,b",
		"`item_id=[\"a,b\",\"c d\"]`":  `--item-id '["a,b","c d"]'`,
		"`item_id=[\"a b\"]`":          `--item-id "a b"`,
		"`item_id=[\"[a\",\"b\"]`":     `--item-id '["[a","b"]'`,
		"`item_id=[\"a\\\"b\",\"c\"]`": `--item-id '["a\"b","c"]'`,
		"`clip=[0,null]`":              "--clip 0:",
		"`columns=[]`":                 `--columns ""`,
		"`sort=true`":                  "--sort",
		"`layout=\"packed\"`":          "--layout packed",
	} {
		if got := inHint(hint); got != want {
			t.Errorf("%s: %s, want %s", hint, got, want)
		}
	}
}
