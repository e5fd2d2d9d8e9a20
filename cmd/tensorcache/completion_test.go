package main

import (
	"maps"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestCompletedValuesAreThoseOfTheHelp checks that each completed value is in the help of
// its flag, and that a verb has each flag.
func TestCompletedValuesAreThoseOfTheHelp(t *testing.T) {
	left := maps.Clone(flagValues)
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			for _, word := range flagValues[f.Name] {
				if !strings.Contains(f.Usage, word) {
					t.Errorf("%s --%s: the help does not know %q: %s", c.Name(), f.Name,
						word, f.Usage)
				}
			}
			delete(left, f.Name)
		})
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRoot())
	for name := range left {
		t.Errorf("no verb has --%s", name)
	}
}
