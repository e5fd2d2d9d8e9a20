package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
)

// completionTimeout limits how long a completion waits for the daemon.
const completionTimeout = 5 * time.Second

// flagValues are the values of flags that take one of a few words, in all verbs. A flag that also
// takes other values, such as numbers or lists, has those that can begin one.
var flagValues = map[string][]cobra.Completion{
	"anchor":     {"start", "end"},
	"decimal":    {".", ","},
	"duplicates": {"first", "last", "mean"},
	"fill":       {"mean", "forward", "backward", "linear"},
	"layout":     {"columns", "packed", "auto"},
	"melt":       {"columns", "rows"},
	"log-format": {"text", "json"},
	"log-level":  {"debug", "info", "warn", "error"},
	"order":      sampler.Orders(),
	"scale":      {"standard", "minmax", "robust", "maxabs"},
	"scale-per":  {"column", "item"},
	"state": {wire.JobQueued, wire.JobRunning, wire.JobDone, wire.JobFailedIn,
		wire.JobCancelled},
	"tail": {sampler.Short, sampler.Wrap, sampler.Drop},
}

// columnFlags are the flags that take columns, in verbs whose first argument is a dataset. The time
// of a plan is a pair of bounds.
func columnFlags(verb string) []string {
	flags := []string{"columns", "context-columns", "target-columns", "known-columns",
		"static-columns", "item-id"}
	if verb != "plan" {
		flags = append(flags, "time")
	}
	return flags
}

// addFlagValues makes a verb complete the values of its flags.
func (o *options) addFlagValues(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(columnFlags(c.Name()), f.Name) {
			if err := c.RegisterFlagCompletionFunc(f.Name, o.completeColumns); err != nil {
				panic(err) // it was registered before
			}
		}
		if words, ok := flagValues[f.Name]; ok {
			if err := c.RegisterFlagCompletionFunc(f.Name,
				cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
				panic(err) // it was registered before
			}
		}
	})
}

// changeCompletionVerb makes cobra's verb refuse an unknown shell, as the other verbs do with
// unknown arguments.
func changeCompletionVerb(c *cobra.Command) {
	c.Short, c.Args = "write the script that completes verbs, flags and names in a shell",
		cobra.ArbitraryArgs
	c.Example = "  source <(tensorcache completion bash)"
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usageError{fmt.Errorf(
				"completion: got %q, want bash, fish, powershell or zsh", args[0])}
		}
		return cmd.Help()
	}
}

// completeName completes the name of a dataset if a daemon runs; it does not start one. Arguments
// after the name are completed as files if the verb takes any.
func (o *options) completeName(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	if len(args) > 0 {
		if cmd.Args(cmd, append(args, "file")) == nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	o.askRunning(cmd, func(ctx context.Context, c *control.Client) {
		datasets, err := control.List[wire.Datasets](ctx, c, "/v1/datasets")
		if err != nil {
			return
		}
		for _, d := range datasets {
			names = append(names, d.Dataset)
		}
	})
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeColumns completes the last of a list of columns of the dataset that the first argument
// names.
func (o *options) completeColumns(cmd *cobra.Command, args []string, begun string) (
	[]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	if len(args) > 0 {
		before := begun[:strings.LastIndexByte(begun, ',')+1]
		o.askRunning(cmd, func(ctx context.Context, c *control.Client) {
			var d wire.Dataset
			if c.Get(ctx, control.Dataset(args[0], ""), &d) != nil || d.Manifest == nil {
				return
			}
			for _, column := range d.Manifest.Columns {
				if column.Name == printable(column.Name) { // else a shell cannot complete it
					names = append(names, before+column.Name)
				}
			}
		})
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// askRunning calls ask with a client of the daemon, if one runs.
func (o *options) askRunning(cmd *cobra.Command, ask func(context.Context, *control.Client)) {
	dir, err := control.Dir(o.dir)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	c, err := control.ConnectWith(ctx, dir, nil)
	if err != nil {
		return
	}
	defer c.Close()
	ask(ctx, c)
}
