package store

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"

	"golang.org/x/sys/unix"
)

// A client that loads remote files copies them into a directory of its own below tmp. It has a lock
// on the file stagingLock in it for as long as it needs the directory.
const stagingLock = "lock"

// stagingName matches the names of these directories: the process, and a random number.
var stagingName = regexp.MustCompile(`^staging-[0-9]+-[0-9a-f]{8}$`)

// RemoveAbandoned removes the staging directories of clients that have ended.
func (s *Store) RemoveAbandoned() error { return s.dir.removeAbandoned(s.log) }

func (d *directory) removeAbandoned(log *slog.Logger) error {
	entries, err := os.ReadDir(d.tmp())
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		dir := filepath.Join(d.tmp(), e.Name())
		if !stagingName.MatchString(e.Name()) {
			continue
		}
		// Without the lock's file, it is a load of a dataset with such a name, or a client that is
		// about to make the file.
		lock, err := lockStaging(dir)
		if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		err = os.RemoveAll(dir)
		lock.Close() // now, or the client could take it before the removal
		if errs = append(errs, err); err == nil {
			log.Info("removed an abandoned staging directory", "dir", e.Name())
		}
	}
	return errors.Join(errs...)
}

// lockStaging takes the lock of a staging directory. The error is [unix.EWOULDBLOCK] if a process
// has it, [fs.ErrNotExist] if there is none.
func lockStaging(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, stagingLock), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK,
		0)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
