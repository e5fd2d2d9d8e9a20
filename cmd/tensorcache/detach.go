package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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

// oomScoreFile contains what Linux adds to the badness score of this process when it chooses a process to
// kill because memory is short: see proc_pid_oom_score_adj(5).
const oomScoreFile = "/proc/self/oom_score_adj"

// resetOOMScore sets an adjustment above 0 to 0. The daemon has inherited it: Ray, for example, sets 1000
// for its workers, so that they are killed first, but the daemon outlives them and serves others, too.
func resetOOMScore(file string) error {
	b, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) { // no Linux
		return nil
	}
	if err != nil {
		return err
	}
	adjustment, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || adjustment <= 0 {
		return err
	}
	err = os.WriteFile(file, []byte("0"), 0)
	if errors.Is(err, os.ErrPermission) { // a privileged process has set it
		return nil
	}
	return err
}
