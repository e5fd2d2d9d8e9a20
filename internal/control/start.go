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

// Files in the cache directory that belong to starting a daemon.
const (
	startLock = "start.lock"
	logFile   = "daemon.log"
)

// Connect gives a client of the daemon that has the directory. Where none runs it starts one,
// unless TENSORCACHE_AUTOSTART=0 or start is false; then the error wraps ErrNoDaemon.
func Connect(dir string, start bool) (*Client, error) {
	if !start {
		return ConnectWith(context.Background(), dir, nil)
	}
	return ConnectWith(context.Background(), dir, os.Executable)
}

// ConnectWith is Connect for a program that is not the daemon itself: exe says which one to start;
// nil starts none. The context ends the wait for a daemon that comes or goes.
func ConnectWith(ctx context.Context, dir string, exe func() (string, error)) (*Client, error) {
	reap()
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
	if c, err := settle(ctx, dir); err == nil || !errors.Is(err, ErrNoDaemon) {
		return c, err
	}
	if err := spawn(ctx, program, dir); err != nil {
		// Whoever starts one without that lock, as a service manager does, may have been first.
		if c, other := settle(ctx, dir); other == nil {
			return c, nil
		}
		return nil, err
	}
	return dial(ctx, dir)
}

// How long a daemon that has the directory may take until it listens or is gone, and how often that
// is looked up.
const (
	longestHold = time.Minute
	holdPause   = 10 * time.Millisecond
)

// settle waits for a daemon that is coming or going. The error wraps ErrNoDaemon once nobody has
// the directory.
func settle(ctx context.Context, dir string) (*Client, error) {
	for deadline := time.Now().Add(longestHold); ; {
		c, err := dial(ctx, dir)
		if err == nil || !errors.Is(err, ErrNoDaemon) || IsFree(dir) {
			return c, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("a daemon holds %s but neither listens nor leaves after %s",
				dir, longestHold)
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// pause waits a moment, or returns why not to wait.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(holdPause):
		return nil
	}
}

// IsFree tells whether no daemon holds the directory.
func IsFree(dir string) bool {
	f, err := os.Open(filepath.Join(dir, "daemon.lock"))
	if err != nil {
		return true // there is none, or whoever tries to take it is told why not
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil
}

// LockStart holds off others that would start a daemon in the directory, or end one because it is
// idle.
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

// dial connects to the daemon that runs; ErrNoDaemon when there is none.
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

// spawn starts the program as a daemon of its own session and waits until it listens. One that is
// not waited for to the end is ended.
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
		_ = cmd.Wait() // it has ended; its log says why
		return fmt.Errorf("%w: it ended at its start; the end of %s:\n%s", ErrNoDaemon, log.Name(),
			tail(log.Name()))
	}
	started.Store(cmd.Process.Pid, cmd.Process)
	return nil
}

// started are the daemons, by pid, that this process has started and whose end it has not seen.
var started sync.Map

// reap takes note of the end of daemons that this process started, so that none of them stays as a
// zombie.
func reap() {
	started.Range(func(pid, process any) bool {
		if got, err := unix.Wait4(pid.(int), nil, unix.WNOHANG, nil); got != 0 || err != nil {
			started.Delete(pid)
			_ = process.(*os.Process).Release()
		}
		return true
	})
}

// tail is the last few lines of a file, for a message.
func tail(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}

// Stopped is the daemon of a directory that is about to be told to stop, as far as it is known, or
// where another one was told so, which answered with its pid, that one's pid alone.
func Stopped(before wire.Daemon, pid int) wire.Daemon {
	if before.PID != pid {
		return wire.Daemon{PID: pid}
	}
	return before
}

// WaitGone returns once a daemon has left the directory: nobody holds it, or another one already
// serves. That may have the same pid, as in containers, where each is 1: then it has begun at
// another time.
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
	reap()
	return nil
}
