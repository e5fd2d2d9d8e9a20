package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
)

func newUI(o *options) *cobra.Command {
	var onlyPrint bool
	cmd := &cobra.Command{
		Use: "ui [NAME]", Short: "open the dashboard in a browser", Args: cobra.MaximumNArgs(1),
		Long: `Ui opens the dashboard in a browser, at the dataset NAME where one is given, and
prints its address.

The address works once, within a minute: it logs the browser in, and no other.
Others get theirs by running ui again.`,
		Example: "  tensorcache ui etth1",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := o.connect(inDirectory)
			if err != nil {
				return err
			}
			defer c.Close()
			shown := ""
			if len(args) > 0 {
				var d wire.Dataset // to refuse an unknown name here, not in the browser
				if err := c.Get(cmd.Context(), control.Dataset(args[0], ""), &d); err != nil {
					return err
				}
				shown = datasetFragment(args[0])
			}
			var ui wire.UI
			if err := c.Post(cmd.Context(), "/v1/ui", struct{}{}, &ui); err != nil {
				return err
			}
			address := ui.URL + shown
			fmt.Fprintln(cmd.OutOrStdout(), address)
			const once = "the address works once, within a minute"
			switch {
			case onlyPrint:
			case !hasDisplay():
				fmt.Fprintf(cmd.ErrOrStderr(), "open it in a browser: %s\n", once)
			default:
				if err := openBrowser(address); err != nil {
					fmt.Fprintf(cmd.ErrOrStderr(),
						"no browser was opened (%s); open the address yourself: %s\n", err, once)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&onlyPrint, "print", false, "only print the address")
	return cmd
}

// datasetFragment returns the fragment of the dashboard's address that shows a dataset. A browser
// does not send it to the server.
func datasetFragment(name string) string { return "#/datasets/" + name }

// hasDisplay reports whether a browser can be shown.
func hasDisplay() bool {
	return runtime.GOOS == "darwin" || os.Getenv("DISPLAY") != "" ||
		os.Getenv("WAYLAND_DISPLAY") != ""
}

// openBrowser opens an address in the system's browser, and does not wait for it.
func openBrowser(address string) error {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	cmd := exec.Command(opener, address)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
