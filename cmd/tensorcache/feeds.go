package main

import (
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/wire"
)

func newFeeds(o *options) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "feeds", Short: "list the trainers' feeds, and who waits for whom", Args: cobra.NoArgs,
		Long: `List the trainers' feeds, and who waits for whom.

WAITS is the share of its passes that a trainer waited for data, by its own clock; IDLE the share of
the feed's life that the daemon waited for the trainer.`,
		Example: "  tensorcache feeds --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := o.connect(true)
			if err != nil {
				return err
			}
			defer c.Close()
			var list wire.Feeds
			if err := c.Get(cmd.Context(), "/v1/feeds", &list); err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), list)
			}
			rows := [][]any{{"FEED", "DATASET", "PID", "DELIVERY", "SLOTS", "RING", "BATCHES", "WAITS", "IDLE", "VERDICT"}}
			for _, f := range list.Feeds {
				ring := humanize.IBytes(uint64(f.SlotBytes) * uint64(f.Slots))
				rows = append(rows, []any{f.Feed, f.Dataset, f.PID, f.Delivery, f.Slots, ring, humanize.Comma(f.Batches), percent(f.WaitDataShare), percent(f.WaitTrainerShare), f.Verdict})
			}
			return table(cmd.OutOrStdout(), rows)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
