package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tensorcache/tensorcache/internal/near"
)

// flagError returns the error of a wrong flag. It names the flags that may be meant.
func flagError(cmd *cobra.Command, err error) error {
	text, _, _ := strings.Cut(err.Error(), ": strconv.")
	name, unknown := strings.CutPrefix(text, "unknown flag: --")
	if rest, found := strings.CutPrefix(text, "unknown shorthand flag: "); found {
		_, name, unknown = strings.Cut(rest, " in -") // one dash, as -time
		text = "unknown flag: -" + name
	}
	if meant := nearFlags(cmd, name); unknown && len(meant) > 0 {
		text = fmt.Sprintf("%s; near: %s", text, strings.Join(meant, ", "))
	}
	return usageError{errors.New(text)}
}

// nearFlags returns the flags of a verb that are similar to a name, or that it contains.
func nearFlags(cmd *cobra.Command, name string) []string {
	name, _, _ = strings.Cut(flagName(name), "=")
	var names, parts []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		names = append(names, f.Name)
		if len(f.Name) > 2 && strings.Contains(name, f.Name) {
			parts = append(parts, f.Name)
		}
	})
	meant := near.Names(name, names)
	for _, part := range parts {
		if !slices.Contains(meant, part) {
			meant = append(meant, part)
		}
	}
	for i := range meant {
		meant[i] = "--" + meant[i]
	}
	return meant
}
