package main

import (
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
)

func newUnload(o *options) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "unload NAME", Short: "give up a dataset's memory, never its files",
		Args: cobra.ExactArgs(1),
		Long: "Unload asks the system to give up the pages of a dataset. Its files stay, and " +
			"whoever reads it next brings them back. " +
			"Pages that a trainer has mapped stay, and those of a pinned dataset: unload says " +
			"what is left and why.",
		Example: "  tensorcache unload etth1",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := o.connect(inDirectory)
			if err != nil {
				return err
			}
			defer c.Close()
			var u wire.Unloaded
			if err := c.Post(cmd.Context(), control.Dataset(args[0], "/unload"), nil,
				&u); err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if asJSON {
				return printJSON(out, u)
			}
			fmt.Fprintf(out, "unloaded %s: %s of %s in memory\n", u.Dataset,
				sizeOr(u.ResidentBytes, "an unknown part"), humanize.IBytes(uint64(u.Bytes)))
			if u.Kept != "" {
				fmt.Fprintf(out, "kept: %s\n", u.Kept)
			}
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// sizeOr formats a size, or returns other if it is unknown.
func sizeOr(bytes *int64, other string) string {
	if bytes == nil {
		return other
	}
	return humanize.IBytes(uint64(*bytes))
}
