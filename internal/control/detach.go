package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// LogFile is the name of the log in the cache directory of a daemon that was started detached.
const LogFile = "daemon.log"

// How long a daemon that owns the directory may take to listen or to end, and how often waiting
// functions check.
const (
	startTimeout = time.Minute
	pollInterval = 10 * time.Millisecond
)

// StartError is returned if a daemon did not start.
type StartError struct {
	Err   error
	Lines []string // what the daemon has written; the last may be a hint
}

// Error returns the error and the lines, each on a line of its own.
func (e *StartError) Error() string {
	return strings.Join(append([]string{e.Err.Error() + ":"}, e.Lines...), "\n")
}

// Unwrap returns the error without the lines.
func (e *StartError) Unwrap() error { return e.Err }

// Detach starts a program as the daemon of a directory, in a session of its own, and returns its pid
// once it listens. Its output is appended to LogFile. Detach adds a flag to args that names the file
// descriptor to report to.
//
// The caller exits afterwards, so that the daemon is no child of the process that ran the caller. Ray,
// for example, kills the children of a worker that ends.
//
// If the daemon does not listen within a minute, or the context ends first, Detach kills it. If it ended
// and has logged something, the error is a *StartError.
func Detach(ctx context.Context, dir, exe string, args []string) (pid int, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	path := filepath.Join(dir, LogFile)
	log, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600) // the daemon reads it to rotate it
	if err != nil {
		return 0, err
	}
	defer log.Close()
	before, err := log.Stat()
	if err != nil {
		return 0, err
	}
	if err := closeOnExec(); err != nil {
		return 0, err
	}
	ready, report, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer ready.Close()
	cmd := exec.Command(exe, append(args, "--ready-fd", "3")...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = log, log, []*os.File{report}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	report.Close()
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", exe, err)
	}
	limited, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	stop := context.AfterFunc(limited, func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(ready).ReadString('\n')
	if stop() && err == nil && line == "ok\n" {
		return cmd.Process.Pid, nil
	}
	_ = cmd.Process.Kill()
	ended := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return 0, fmt.Errorf("the start was interrupted, and the daemon killed: %w", ctx.Err())
	case limited.Err() != nil:
		err = fmt.Errorf("the daemon did not listen after %s and was killed", startTimeout)
	default:
		err = fmt.Errorf("the daemon did not start: %w", ended)
	}
	logged, readErr := linesSince(path, before.Size())
	if readErr != nil || len(logged) == 0 {
		return 0, errors.Join(fmt.Errorf("%w; its log is %s", err, path), readErr)
	}
	return 0, &StartError{Err: fmt.Errorf("%w; from its log, %s", err, path), Lines: logged}
}

// closeOnExec keeps the daemon from inheriting file descriptors of the process that started this program,
// such as a lock or the end of a pipe, which would stay open as long as the daemon runs.
func closeOnExec() error {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// How many lines of the log say why a daemon did not start.
const shownLines = 20

// crash matches the first line of what the Go runtime says of a crash.
var crash = regexp.MustCompile("^(panic:|fatal error:|SIG[A-Z]{3,}:)")

// linesSince returns the last lines of a file from an offset on, or from its beginning if the file is
// shorter, without empty ones. If they are those of a crash, it returns the first lines of the crash.
func linesSince(path string, offset int64) ([]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if offset <= int64(len(b)) {
		b = b[offset:]
	}
	lines := strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' })
	from := max(0, len(lines)-shownLines)
	if i := slices.IndexFunc(lines, crash.MatchString); i >= 0 {
		from = min(from, i)
	}
	return lines[from:min(from+shownLines, len(lines))], nil
}
