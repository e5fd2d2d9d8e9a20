package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestMisspeltFlagsAreOffered writes every flag of every verb with underscores, without a letter,
// with one dash and with a suffix.
func TestMisspeltFlagsAreOffered(t *testing.T) {
	for _, verb := range newRoot().Commands() {
		verb.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			cmd := newVerb(t, verb.Name())
			if cmd.Flags().Lookup(strings.ReplaceAll(f.Name, "-", "_")) == nil {
				t.Errorf("%s: --%s with underscores is unknown", verb.Name(), f.Name)
			}
			for _, arg := range []string{"--" + f.Name[:len(f.Name)-1], "-" + f.Name,
				"--" + f.Name + "-column", "--" + strings.ReplaceAll(f.Name, "-", "")} {
				if f.Name == "na" || cmd.Flags().Lookup(strings.TrimLeft(arg, "-")) != nil {
					continue
				}
				err := cmd.ParseFlags([]string{arg + "=1"})
				if err == nil {
					continue // another flag's name or shorthand
				}
				text := flagError(cmd, err).Error()
				if !strings.Contains(text+",", " --"+f.Name+",") {
					t.Errorf("%s %s: %s", verb.Name(), arg, text)
				}
			}
		})
	}
}
