package main

import (
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
)

func newPin(o *options) *cobra.Command {
	var off, asJSON bool
	cmd := &cobra.Command{
		Use: "pin NAME", Short: "lock a dataset in memory, as far as the daemon may",
		Args: cobra.ExactArgs(1),
		Long: "Pin brings a dataset into memory and locks it there, and from then on each new " +
			"generation of it, until pin --off, rm or the daemon's end. " +
			"How much may be locked is the system's to say (ulimit -l): pin says what was " +
			"locked and the limit.",
		Example: "  tensorcache pin etth1",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := o.connect(inDirectory)
			if err != nil {
				return err
			}
			defer c.Close()
			var p wire.Pinned
			out, path := cmd.OutOrStdout(), control.Dataset(args[0], "/pin")
			if off {
				if err := c.Delete(cmd.Context(), path, &p); err != nil {
					return err
				}
				if asJSON {
					return printJSON(out, p)
				}
				fmt.Fprintf(out, "unpinned %s\n", p.Dataset)
				return nil
			}
			if err := c.Put(cmd.Context(), path, nil, &p); err != nil {
				return err
			}
			if asJSON {
				return printJSON(out, p)
			}
			fmt.Fprintf(out, "pinned %s: %s of %s\n", p.Dataset,
				humanize.IBytes(uint64(p.PinnedBytes)), humanize.IBytes(uint64(p.Bytes)))
			if p.Limited != "" {
				fmt.Fprintf(out,
					"limited: %s (the limit is %s: ulimit -l, or LimitMEMLOCK= of a systemd "+
						"unit)\n", p.Limited, sizeOr(p.LimitBytes, "none"))
			}
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&off, "off", false, "end the lock")
	return cmd
}
