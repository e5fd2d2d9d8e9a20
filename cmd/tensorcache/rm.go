package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
)

func newRm(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "rm NAME", Short: "remove a dataset from the cache", Args: cobra.ExactArgs(1),
		Long: "Rm deletes all generations of a dataset and of its scaled copies. Trainers that have one " +
			"open go on; its sources are not touched.",
		Example: "  tensorcache rm etth1",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := o.connect(inDirectory)
			if err != nil {
				return err
			}
			defer c.Close()
			var removed wire.Removed
			if err := c.Delete(cmd.Context(), control.Dataset(args[0], ""), &removed); err != nil {
				return err
			}
			for _, name := range append([]string{removed.Dataset}, removed.Copies...) {
				fmt.Fprintf(cmd.OutOrStdout(), "removed %s\n", name)
			}
			return nil
		},
	}
}
