package main

import (
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
)

func newPreload(o *options) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "preload NAME", Short: "bring all of a dataset into memory", Args: cobra.ExactArgs(1),
		Long: "Preload reads what of a dataset is not in memory, so that no trainer waits for " +
			"the disk. Where the memory budget has no room for it, " +
			"the pages of datasets that nobody reads are given up first; where that is not " +
			"enough it is refused. The system may take the pages again when it is short of " +
			"memory: pin keeps them.",
		Example: "  tensorcache preload etth1",
		RunE: func(cmd *cobra.Command, args []string) error {
			job, err := o.runJob(cmd, args[0], "/preload", struct{}{})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), job)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "preloaded %s: %s, in %.1f s\n", job.Dataset,
				humanize.IBytes(uint64(job.BytesTotal)), job.Seconds)
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
