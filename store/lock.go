package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// takeLock tries again after lockPause, up to lockTries times if another process holds the lock
// exclusively, and up to sharedTries times if processes only share it.
const (
	lockTries   = 20
	sharedTries = 2000
	lockPause   = 5 * time.Millisecond
)

// takeLock locks the directory for this process until the file is closed. The error wraps
// ErrLocked.
func takeLock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	try := func(how int) error { return unix.Flock(int(f.Fd()), how|unix.LOCK_NB) }
	err = try(unix.LOCK_EX)
	// A client that waits for a daemon to end shares the lock for a short time, which is longer on
	// a busy machine.
	for held, tries := 0, 0; errors.Is(err, unix.EWOULDBLOCK) && held < lockTries &&
		tries < sharedTries; tries++ {
		if try(unix.LOCK_SH) != nil {
			held++
		}
		_ = try(unix.LOCK_UN)
		time.Sleep(lockPause)
		err = try(unix.LOCK_EX)
	}
	if err != nil {
		defer f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		holder, _ := io.ReadAll(io.LimitReader(f, 100)) // only for the message
		return nil, fmt.Errorf("%w: %s is held by %s", ErrLocked, dir,
			strings.TrimSpace(string(holder)))
	}
	if err := f.Truncate(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := fmt.Fprintf(f, "tensorcache, pid %d\n", os.Getpid()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
