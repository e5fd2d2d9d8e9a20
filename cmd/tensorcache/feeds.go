package main

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
)

func newFeeds(o *options) *cobra.Command {
	var asJSON bool
	var closing string
	cmd := &cobra.Command{
		Use: "feeds", Short: "list the trainers' feeds, and who waits for whom; close one",
		Args: cobra.NoArgs,
		Long: `List the trainers' feeds, and who waits for whom. With --close one is ended: its
trainer gets an error that says so, and can go on where it was by the state that
it saved.

WAITS is the share of its passes that a trainer waited for data, by its own
clock; IDLE the share of the feed's life that the daemon waited for the trainer.`,
		Example: "  tensorcache feeds --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := o.connect(inDirectory)
			if err != nil {
				return err
			}
			defer c.Close()
			if closing != "" {
				var closed wire.Feed
				if err := c.Delete(cmd.Context(), "/v1/feeds/"+url.PathEscape(closing),
					&closed); err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), closed)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "closed %s of process %s\n", closed.Feed,
					pidText(closed.PID))
				return nil
			}
			list, err := control.List[wire.Feeds](cmd.Context(), c, "/v1/feeds")
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), wire.Feeds{Feeds: list})
			}
			rows := [][]any{{"FEED", "DATASET", "PID", "DELIVERY", "SLOTS", "RING", "BATCHES",
				"WAITS", "IDLE", "VERDICT"}}
			for _, f := range list {
				ring := humanize.IBytes(uint64(f.SlotBytes) * uint64(f.Slots))
				rows = append(rows, []any{f.Feed, f.Dataset, pidText(f.PID), f.Delivery, f.Slots,
					ring, humanize.Comma(f.Batches), percent(f.WaitDataShare),
					percent(f.WaitTrainerShare), inHint(f.Verdict)})
			}
			return table(cmd.OutOrStdout(), rows)
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().StringVar(&closing, "close", "", "end this `feed`")
	return cmd
}

// pidText returns the pid of a trainer, or a word if the trainer is in another pid namespace than
// the daemon.
func pidText(pid int) string {
	if pid == 0 {
		return "elsewhere"
	}
	return strconv.Itoa(pid)
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
