package main

import (
	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/origin"
	"github.com/tensorcache/tensorcache/internal/wire"
)

func newAppend(o *options) *cobra.Command {
	var a wire.Append
	cmd := &cobra.Command{
		Use: "append NAME SOURCE...", Short: "put the rows of more files behind those of a dataset",
		Args: cobra.MinimumNArgs(2),
		Long: "Append makes a new generation of a dataset: the rows that it has, which are " +
			"copied, and those of further files, which are read with the options " +
			"of the first load. What was fitted stays. Files that it has already are passed over.",
		Example: "  tensorcache append prices 2026-11.csv",
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.loadSources(cmd, args[0], appendRoute, args[1:],
				func(sources []string, origins origin.Files) any {
					a.Sources, a.Origins = sources, origins
					return a
				})
		},
	}
	cmd.Flags().BoolVar(&a.HashSources, "hash-sources", false,
		"compare sources by what they hold, not by the time of their change: each is read for it")
	return cmd
}
