package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

func newVersion(*options) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "print the versions of program, protocol and format",
		Args:    cobra.NoArgs,
		Example: "  tensorcache version --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := struct {
				Version string `json:"version"`
				wire.Protocols
				Format int    `json:"format"`
				Go     string `json:"go"`
			}{fullVersion(), wire.OwnProtocols, layout.FormatVersion, runtime.Version()}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), v)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "tensorcache %s (%s, format %d, %s)\n",
				v.Version, v.Describe(), v.Format, v.Go)
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
