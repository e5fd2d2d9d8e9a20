package store

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/fault"
	"github.com/tensorcache/tensorcache/internal/machine"
)

// Names below the cache directory.
const (
	lockFile    = "daemon.lock"
	tmpDir      = "tmp"
	datasetsDir = "datasets"
)

// directory is the cache directory, locked for this process. A generation is the directory
// datasets/NAME/NUMBER. Files are written below tmp and renamed.
type directory struct {
	path string // absolute
	lock *os.File
}

// openDirectory creates the directory (0700) if it does not exist, and locks it. The error wraps
// ErrFilesystem or ErrLocked.
func openDirectory(path string) (directory, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return directory{}, err
	}
	for _, d := range []string{path, filepath.Join(path, tmpDir),
		filepath.Join(path, datasetsDir)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return directory{}, err
		}
	}
	if err := checkFilesystem(path); err != nil {
		return directory{}, err
	}
	lock, err := takeLock(path)
	return directory{path, lock}, err
}

// checkFilesystem refuses network file systems, on which neither memory maps nor locks are
// reliable.
func checkFilesystem(dir string) error {
	f, err := machine.FilesystemOf(dir)
	if err != nil {
		return err
	}
	if f.Kind == machine.Network {
		return fmt.Errorf("%w: %s is on %s; choose a local directory with `dir` or TENSORCACHE_DIR",
			ErrFilesystem, dir, f.Name)
	}
	return nil
}

// close releases the lock.
func (d *directory) close() error { return d.lock.Close() }

func (d *directory) tmp() string { return filepath.Join(d.path, tmpDir) }

func (d *directory) datasets() string { return filepath.Join(d.path, datasetsDir) }

// dataset returns the directory of a dataset's generations.
func (d *directory) dataset(name string) string { return filepath.Join(d.path, datasetsDir, name) }

// generation returns the directory of a generation.
func (d *directory) generation(name string, number int64) string {
	return filepath.Join(d.dataset(name), strconv.FormatInt(number, 10))
}

// removeUnfinished removes the files below tmp, which are of loads that were killed, but not the
// staging directories of clients that live.
func (d *directory) removeUnfinished(log *slog.Logger) error {
	entries, err := os.ReadDir(d.tmp())
	if err != nil {
		return err
	}
	for _, e := range entries {
		dir := filepath.Join(d.tmp(), e.Name())
		var lock *os.File
		if stagingName.MatchString(e.Name()) {
			if lock, err = lockStaging(dir); errors.Is(err, unix.EWOULDBLOCK) {
				continue
			}
		}
		err := os.RemoveAll(dir)
		lock.Close()
		if err != nil {
			return err
		}
		log.Info("removed an unfinished load", "dir", e.Name())
	}
	return nil
}

// remove deletes a generation's directory. A rename into tmp makes all files vanish at once. Maps
// of the files stay valid.
func (d *directory) remove(generation string) error {
	if err := fault.At("remove"); err != nil {
		return fmt.Errorf("remove %s: %w", generation, err)
	}
	trash, err := os.MkdirTemp(d.tmp(), "removed-")
	if err != nil {
		return err
	}
	return errors.Join(os.Rename(generation, filepath.Join(trash, "generation")),
		os.RemoveAll(trash))
}
