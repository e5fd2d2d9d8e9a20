package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// completeTime is how long who presses TAB waits at most, for a daemon that does not answer.
const completeTime = 5 * time.Second

// completeShells makes cobra's verb one as the others are: it refuses a shell that it does not know.
func completeShells(c *cobra.Command) {
	c.Short, c.Args = "write the script that completes verbs, flags and names in a shell", cobra.ArbitraryArgs
	c.Example = "  source <(tensorcache completion bash)"
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usageError{fmt.Errorf("completion: got %q, want bash, fish, powershell or zsh", args[0])}
		}
		return cmd.Help()
	}
}

// completeName completes the name of a dataset from the daemon that runs; none is started for it. What follows the name is files, where
// the verb takes any.
func (o *options) completeName(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
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
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
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
