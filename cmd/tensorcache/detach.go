package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/control"
)

// startDetached starts this program once more, with the same arguments, as a daemon in the background.
// It returns once the daemon listens.
func (o *serveOptions) startDetached(cmd *cobra.Command) error {
	dir, err := control.Dir(o.dir)
	if err != nil {
		return err
	}
	if _, err := o.sourceRoots(); err != nil {
		return usageError{err}
	}
	log := filepath.Join(dir, control.LogFile)
	if o.logOptions.file != "" {
		if log, err = filepath.Abs(o.logOptions.file); err != nil {
			return err
		}
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	args := append(slices.Clone(os.Args[1:]), "--detached")
	pid, err := control.Detach(ctx, dir, exe, args)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "pid %d, log %s\n", pid, log)
	return err
}
