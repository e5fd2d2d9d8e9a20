package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// stopTimeout is how long stop waits for the daemon's end.
const stopTimeout = 30 * time.Second

func newStop(o *options) *cobra.Command {
	var whenIdle bool
	cmd := &cobra.Command{
		Use: "stop", Short: "end the daemon", Args: cobra.NoArgs,
		Long: `Stop ends the daemon and waits until it is gone. Datasets stay in the cache;
attached trainers are told.

With --when-idle the daemon serves on, new clients too, and leaves at the first
moment in which no load runs and no trainer is attached but those with
reconnect=True, which go on with the next daemon where they are.`,
		Example: "  tensorcache stop --when-idle",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := o.connect(ifRunning)
			if errors.Is(err, control.ErrNoDaemon) {
				fmt.Fprintln(cmd.OutOrStdout(), "no daemon runs")
				return nil
			}
			if err != nil {
				return err
			}
			defer c.Close()
			var stopping wire.Stopping
			if err := c.Post(cmd.Context(), "/v1/stop", wire.StopRequest{WhenIdle: whenIdle},
				&stopping); err != nil {
				return err
			}
			dir, err := control.Dir(o.dir)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			if !whenIdle {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, stopTimeout)
				defer cancel()
			} else if stopping.Feeds+stopping.Jobs > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(),
					"daemon %d leaves once these have ended: feeds %d, jobs %d\n", stopping.PID,
					stopping.Feeds, stopping.Jobs)
			}
			if err := control.WaitGone(ctx, dir,
				control.Stopped(c.Daemon, stopping.PID)); err != nil {
				return fmt.Errorf("daemon %d is still ending: %w", stopping.PID, err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "stopped daemon %d\n", stopping.PID)
			return nil
		},
	}
	cmd.Flags().BoolVar(&whenIdle, "when-idle", false,
		"only once no load runs and no trainer needs the daemon")
	return cmd
}
