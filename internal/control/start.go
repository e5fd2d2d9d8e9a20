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
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Files in the cache directory that belong to starting a daemon.
const (
	startLock = "start.lock"
	logFile   = "daemon.log"
)

// Connect gives a client of the daemon that has the directory. Where none runs it starts one, unless
// TENSORCACHE_AUTOSTART=0 or start is false; then the error wraps ErrNoDaemon.
func Connect(dir string, start bool) (*Client, error) {
	c, err := dial(dir)
	if err == nil || !errors.Is(err, ErrNoDaemon) {
		return c, err
	}
	if !start || os.Getenv("TENSORCACHE_AUTOSTART") == "0" {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := LockStart(dir)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if c, err := settle(dir); err == nil || !errors.Is(err, ErrNoDaemon) {
		return c, err
	}
	if err := spawn(dir); err != nil {
		return nil, err
	}
	return dial(dir)
}

// How long a daemon that has the directory may take until it listens or is gone, and how often that is looked up.
const (
	longestHold = time.Minute
	holdPause   = 10 * time.Millisecond
)

// settle waits for a daemon that is coming or going. The error wraps ErrNoDaemon once nobody has the directory.
func settle(dir string) (*Client, error) {
	for deadline := time.Now().Add(longestHold); ; time.Sleep(holdPause) {
		c, err := dial(dir)
		if err == nil || !errors.Is(err, ErrNoDaemon) || isFree(dir) {
			return c, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("a daemon holds %s but neither listens nor leaves after %s", dir, longestHold)
		}
	}
}

// isFree tells whether no daemon holds the directory.
func isFree(dir string) bool {
	f, err := os.Open(filepath.Join(dir, "daemon.lock"))
	if err != nil {
		return true // there is none, or whoever tries to take it is told why not
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil
}

// LockStart holds off others that would start a daemon in the directory, or end one because it is idle.
func LockStart(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, startLock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
	}
	return f, nil
}

// dial connects to the daemon that runs; ErrNoDaemon when there is none.
func dial(dir string) (*Client, error) {
	d, err := ReadDaemon(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%w runs in %s", ErrNoDaemon, dir)
	case errors.Is(err, errDamaged):
		return nil, fmt.Errorf("%w is known in %s: %w", ErrNoDaemon, dir, err)
	case err != nil:
		return nil, err
	}
	c, err := newClient(d)
	if errors.Is(err, ErrGone) {
		return nil, fmt.Errorf("%w runs in %s (the last one, pid %d, is gone)", ErrNoDaemon, dir, d.PID)
	}
	return c, err
}

// spawn starts this program as a daemon of its own session and waits until it listens.
func spawn(dir string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
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
	line, err := bufio.NewReader(ready).ReadString('\n')
	if err != nil || line != "ok\n" {
		_ = cmd.Wait() // it has ended; its log says why
		return fmt.Errorf("%w: it ended at its start; the end of %s:\n%s", ErrNoDaemon, log.Name(), tail(log.Name()))
	}
	return cmd.Process.Release()
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

// WaitGone returns once no daemon holds the directory.
func WaitGone(ctx context.Context, dir string) error {
	for !isFree(dir) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(holdPause):
		}
	}
	return nil
}
