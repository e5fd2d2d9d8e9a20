package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tensorcache/tensorcache/internal/golden"
)

// TestPublicFlagsAreInTheGoldenList compares the verbs and flags with testdata/public/cli.txt.
func TestPublicFlagsAreInTheGoldenList(t *testing.T) {
	golden.Check(t, "../..", "cli.txt", flagsOf(newRoot()), *update)
}

// flagsOf returns a line for a command, one for each of its flags, and those of its subcommands.
func flagsOf(c *cobra.Command) []string {
	c.InitDefaultHelpFlag()
	lines := []string{strings.TrimSuffix(c.CommandPath(), c.Name()) + c.Use + hidden(c.Hidden)}
	for _, alias := range c.Aliases {
		lines = append(lines, fmt.Sprintf("%s alias %s", c.CommandPath(), alias))
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		line := fmt.Sprintf("%s --%s %s default %q", c.CommandPath(), f.Name,
			f.Value.Type(), f.DefValue)
		if f.Shorthand != "" {
			line += " short -" + f.Shorthand
		}
		if f.NoOptDefVal != "" && f.Value.Type() != "bool" {
			line += fmt.Sprintf(" without a value %q", f.NoOptDefVal)
		}
		lines = append(lines, line+hidden(f.Hidden))
	})
	for _, sub := range c.Commands() {
		lines = append(lines, flagsOf(sub)...)
	}
	return lines
}

func hidden(is bool) string {
	if is {
		return " hidden"
	}
	return ""
}
