package main

import (
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/wire"
)

func newVerify(o *options) *cobra.Command {
	var asJSON bool
	var generation int64
	cmd := &cobra.Command{
		Use: "verify NAME", Short: "compare a dataset's files with their checksums",
		Args: cobra.ExactArgs(1),
		Long: `Verify reads every column and file of a dataset and compares it with the
checksum that was written at its load. Where one differs it exits with 1 and
names it: remove the dataset and load it again.`,
		Example: "  tensorcache verify etth1",
		RunE: func(cmd *cobra.Command, args []string) error {
			job, err := o.runJob(cmd, args[0], "/verify", wire.Verify{Generation: generation})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), job)
			}
			fmt.Fprintf(cmd.OutOrStdout(),
				"%s: generation %d is what was written: %s rows, %s, in %.1f s\n",
				job.Dataset, job.Generation, humanize.Comma(job.Rows),
				humanize.IBytes(uint64(job.BytesTotal)), job.Seconds)
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().Int64Var(&generation, "generation", 0,
		"the `number` of the generation, 0 for the newest")
	return cmd
}
