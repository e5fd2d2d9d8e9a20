package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// Files in the cache directory that are used to start a daemon.
const (
	startLock = "start.lock"
	logFile   = "daemon.log"
)

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
	reapDaemons()
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

// How long a daemon that owns the directory may take to listen or to end, and how often waiting
// functions check.
const (
	startTimeout = time.Minute
	pollInterval = 10 * time.Millisecond
)

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

// spawn starts a program as a daemon in its own session and waits until it listens. If the context
// ends first, it kills the daemon.
func spawn(ctx context.Context, exe, dir string) error {
	log, err := os.OpenFile(filepath.Join(dir, logFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	ready, report, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	cmd := exec.Command(exe, "serve", "--dir", dir, "--auto", "--ready-fd", "3")
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles, cmd.Dir = log, log, []*os.File{report}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	report.Close()
	if err != nil {
		return fmt.Errorf("%w: start %s: %w", ErrNoDaemon, exe, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(ready).ReadString('\n')
	if !stop() {
		_ = cmd.Wait()
		return ctx.Err()
	}
	if err != nil || line != "ok\n" {
		_ = cmd.Wait() // it has ended; its log contains the reason
		return fmt.Errorf("%w: it ended at its start; the end of %s:\n%s", ErrNoDaemon, log.Name(),
			lastLines(log.Name()))
	}
	startedDaemons.Store(cmd.Process.Pid, cmd.Process)
	return nil
}

// startedDaemons are the processes of the daemons that this process has started and not yet waited
// for, by pid.
var startedDaemons sync.Map

// reapDaemons waits for the daemons of startedDaemons that have ended, so that none stays a zombie.
func reapDaemons() {
	startedDaemons.Range(func(pid, process any) bool {
		if got, err := unix.Wait4(pid.(int), nil, unix.WNOHANG, nil); got != 0 || err != nil {
			startedDaemons.Delete(pid)
			_ = process.(*os.Process).Release()
		}
		return true
	})
}

// lastLines returns the last 5 lines of a file, for a message.
func lastLines(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
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
	reapDaemons()
	return nil
}
