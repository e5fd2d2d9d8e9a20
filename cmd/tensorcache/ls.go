package main

import (
	"fmt"
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
			c, err := o.connect(inDirectory)
			if err != nil {
				return err
			}
			defer c.Close()
			list, err := control.List[wire.Datasets](cmd.Context(), c, "/v1/datasets")
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), wire.Datasets{Datasets: list})
			}
			rows := [][]any{{"DATASET", "GENERATION", "ROWS", "ITEMS", "COLUMNS", "SIZE",
				"IN MEMORY", "LOADED", "READERS"}}
			for _, d := range list {
				rows = append(rows, []any{d.Dataset, d.Generation, humanize.Comma(d.Rows),
					humanize.Comma(d.Items), len(d.Columns), humanize.IBytes(uint64(d.Bytes)),
					memoryText(d), d.Created.Local().Format(time.DateTime), d.Readers})
			}
			return table(cmd.OutOrStdout(), rows)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// memoryText returns which share of a dataset is in memory, and which is pinned.
func memoryText(d wire.Dataset) string {
	if d.ResidentBytes == nil {
		return "unknown"
	}
	text := percentOf(*d.ResidentBytes, d.Bytes)
	if d.PinnedBytes > 0 {
		text += fmt.Sprintf(" (%s pinned)", percentOf(d.PinnedBytes, d.Bytes))
	}
	return text
}

// percentOf formats a share. It rounds to 100 % only if all is there, and to 0 % only if nothing
// is.
func percentOf(part, total int64) string {
	n := 100 * float64(part) / float64(max(total, 1))
	switch {
	case part > 0 && n < 1:
		n = 1
	case part < total && n > 99:
		n = 99
	}
	return fmt.Sprintf("%.0f %%", n)
}
