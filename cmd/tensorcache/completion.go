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

// completionTimeout limits how long a completion waits for the daemon.
const completionTimeout = 5 * time.Second

// flagValues are the values of flags that take one of a few words, in all verbs. A flag that also
// takes other values, such as numbers or lists, has those that can begin one.
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

// addFlagValues makes a verb complete the values of its flags.
func addFlagValues(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
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
