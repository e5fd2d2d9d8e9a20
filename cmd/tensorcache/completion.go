package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
)

// completeTime is how long who presses TAB waits at most, for a daemon that does not answer.
const completionTimeout = 5 * time.Second

// flagWords are what flags take that are one of few words, in whatever verb. A flag that takes more
// than those, as a number or a list, is begun with one of them.
var flagValues = map[string][]cobra.Completion{
	"anchor":     {"start", "end"},
	"decimal":    {".", ","},
	"duplicates": {"first", "last", "mean"},
	"fill":       {"mean", "forward", "backward", "linear"},
	"layout":     {"columns", "packed"},
	"log-format": {"text", "json"},
	"log-level":  {"debug", "info", "warn", "error"},
	"order":      sampler.Orders(),
	"scale":      {"standard", "minmax", "robust", "maxabs"},
	"scale-per":  {"column", "item"},
	"state": {wire.JobQueued, wire.JobRunning, wire.JobDone, wire.JobFailedIn,
		wire.JobCancelled},
	"tail": {sampler.Short, sampler.Wrap, sampler.Drop},
}

// completeWords makes a verb complete what its flags take.
func addFlagValues(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if words, ok := flagValues[f.Name]; ok {
			if err := c.RegisterFlagCompletionFunc(f.Name,
				cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
				panic(err) // it is registered twice
			}
		}
	})
}

// completeShells makes cobra's verb one as the others are: it refuses a shell that it does not
// know.
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

// completeName completes the name of a dataset from the daemon that runs; none is started for it.
// What follows the name is files, where the verb takes any.
func (o *options) completeName(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	if len(args) > 0 {
		if cmd.Args(cmd, append(args, "file")) == nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	dir, err := control.Dir(o.dir)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	c, err := control.ConnectWith(ctx, dir, nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer c.Close()
	datasets, err := control.List[wire.Datasets](ctx, c, "/v1/datasets")
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for _, d := range datasets {
		names = append(names, d.Dataset)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
