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

// longestStop is how long stop waits for the daemon to be gone.
const longestStop = 30 * time.Second

func newStop(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "stop", Short: "end the daemon", Args: cobra.NoArgs,
		Long:    "Stop ends the daemon and waits until it is gone. Datasets stay in the cache; attached trainers are told.",
		Example: "  tensorcache stop",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := o.connect(false)
			if errors.Is(err, control.ErrNoDaemon) {
				fmt.Fprintln(cmd.OutOrStdout(), "no daemon runs")
				return nil
			}
			if err != nil {
				return err
			}
			defer c.Close()
			var stopping wire.Stopping
			if err := c.Post(cmd.Context(), "/v1/stop", nil, &stopping); err != nil {
				return err
			}
			dir, err := control.Dir(o.dir)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), longestStop)
			defer cancel()
			if err := control.WaitGone(ctx, dir); err != nil {
				return fmt.Errorf("daemon %d is still ending: %w", stopping.PID, err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "stopped daemon %d\n", stopping.PID)
			return nil
		},
	}
}
