package control

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// startLock is the name of the file in the cache directory that a process locks while it starts a daemon.
const startLock = "start.lock"

// Connect returns a client of the daemon of a directory. If none runs, it starts one, unless
// TENSORCACHE_AUTOSTART=0 or start is false; then the error wraps ErrNoDaemon.
func Connect(dir string, start bool) (*Client, error) {
	if !start {
		return ConnectWith(context.Background(), dir, nil)
	}
	return ConnectWith(context.Background(), dir, os.Executable)
}

// ConnectWith is Connect for a program that is not the daemon itself. exe returns the path of the
// daemon's binary; nil starts no daemon. The context ends the wait for a daemon that starts or
// stops.
func ConnectWith(ctx context.Context, dir string, exe func() (string, error)) (*Client, error) {
	c, err := dial(ctx, dir)
	if err == nil || !errors.Is(err, ErrNoDaemon) {
		return c, err
	}
	if exe == nil || os.Getenv("TENSORCACHE_AUTOSTART") == "0" {
		return nil, err
	}
	program, err := exe()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := lockStart(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if c, err := waitForDaemon(ctx, dir); err == nil || !errors.Is(err, ErrNoDaemon) {
		return c, err
	}
	if err := spawn(ctx, program, dir); err != nil {
		// A program that takes no start.lock, such as a service manager, may have been faster.
		if c, other := waitForDaemon(ctx, dir); other == nil {
			return c, nil
		}
		return nil, err
	}
	return dial(ctx, dir)
}

// waitForDaemon waits for a daemon that starts or stops. The error wraps ErrNoDaemon when no daemon
// owns the directory.
func waitForDaemon(ctx context.Context, dir string) (*Client, error) {
	for deadline := time.Now().Add(startTimeout); ; {
		c, err := dial(ctx, dir)
		if err == nil || !errors.Is(err, ErrNoDaemon) || IsFree(dir) {
			return c, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("a daemon holds %s but neither listens nor leaves after %s",
				dir, startTimeout)
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// pause waits for pollInterval, or returns the context's error.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pollInterval):
		return nil
	}
}

// IsFree reports whether no daemon owns the directory.
func IsFree(dir string) bool {
	f, err := os.Open(filepath.Join(dir, "daemon.lock"))
	if err != nil {
		return true // there is no such file, or a daemon that cannot open it reports the error
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil
}

// LockStart takes start.lock. It keeps others from starting a daemon in the directory, and from
// stopping one because it is idle.
func LockStart(dir string) (*os.File, error) { return lockStart(context.Background(), dir) }

func lockStart(ctx context.Context, dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, startLock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil:
			return f, nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
		}
		if err := pause(ctx); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
}

// dial connects to the running daemon. The error wraps ErrNoDaemon if there is none.
func dial(ctx context.Context, dir string) (*Client, error) {
	d, err := ReadDaemon(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%w runs in %s", ErrNoDaemon, dir)
	case errors.Is(err, errDamaged):
		return nil, fmt.Errorf("%w is known in %s: %w", ErrNoDaemon, dir, err)
	case err != nil:
		return nil, err
	}
	c, err := newClient(ctx, d)
	if errors.Is(err, ErrGone) {
		return nil, fmt.Errorf("%w runs in %s (the last one, pid %d, is gone)",
			ErrNoDaemon, dir, d.PID)
	}
	return c, err
}

// spawn runs a program that starts a detached daemon, and returns once the daemon listens. If the context
// ends first, no daemon is left.
func spawn(ctx context.Context, exe, dir string) error {
	cmd := exec.CommandContext(ctx, exe, "serve", "--detach", "--auto", "--dir", dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // the program kills the daemon
	cmd.WaitDelay = startTimeout
	cmd.SysProcAttr, cmd.Dir = &syscall.SysProcAttr{Setsid: true}, "/"
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	switch {
	case len(stdout) > 0: // it listens; there is no exit code if this process ignores SIGCHLD
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case stderr.Len() > 0:
		return &StartError{Err: fmt.Errorf("%w, and none could be started", ErrNoDaemon),
			Lines: strings.Split(strings.TrimSpace(stderr.String()), "\n")}
	}
	return fmt.Errorf("%w: start %s: %w", ErrNoDaemon, exe, err)
}

// Stopped returns the daemon that a request to stop has reached. before is the daemon of the
// directory before the request, and pid is that of the answer. If another daemon has answered, only
// its pid is known.
func Stopped(before wire.Daemon, pid int) wire.Daemon {
	if before.PID != pid {
		return wire.Daemon{PID: pid}
	}
	return before
}

// WaitGone waits until a daemon has left the directory: no daemon owns it, or another one does. In
// containers, both may have the pid 1, but they have started at different times.
func WaitGone(ctx context.Context, dir string, gone wire.Daemon) error {
	for !IsFree(dir) {
		if d, err := ReadDaemon(dir); err == nil &&
			(d.PID != gone.PID || !gone.Started.IsZero() && !d.Started.Equal(gone.Started)) {
			break
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
	return nil
}
