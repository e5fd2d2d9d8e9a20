package main

import (
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
)

func newLs(o *options) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "ls", Short: "list the datasets", Args: cobra.NoArgs,
		Example: "  tensorcache ls --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := o.connect(true)
			if err != nil {
				return err
			}
			defer c.Close()
			list := wire.Datasets{Datasets: []wire.Dataset{}}
			err = control.Pages(cmd.Context(), c, "/v1/datasets", func(p wire.Datasets) *string {
				list.Datasets = append(list.Datasets, p.Datasets...)
				return p.Next
			})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), list)
			}
			rows := [][]any{{"DATASET", "GENERATION", "ROWS", "ITEMS", "COLUMNS", "SIZE", "LOADED", "READERS"}}
			for _, d := range list.Datasets {
				rows = append(rows, []any{d.Dataset, d.Generation, humanize.Comma(d.Rows), humanize.Comma(d.Items), len(d.Columns), humanize.IBytes(uint64(d.Bytes)), d.Created.Local().Format(time.DateTime), d.Readers})
			}
			return table(cmd.OutOrStdout(), rows)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
