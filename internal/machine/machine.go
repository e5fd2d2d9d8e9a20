// Package machine says what the machine, or the container that the process is in, has: memory,
// disk, descriptors.
//
// [Limit] and [Available] see control groups of both versions. What a system does not tell is no
// bound; each function says so.
package machine

import (
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// fallback is the memory of a machine that does not tell.
const fallback = 4 << 30

// unbounded is what stands for no bound.
const unbounded = math.MaxInt64 / 2

// MemlockLimit is how many bytes the process may lock in memory; ok is false where nothing bounds
// it.
func MemlockLimit() (bytes int64, ok bool) {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &r); err != nil ||
		r.Cur > math.MaxInt64 || mayLock() {
		return 0, false
	}
	return int64(r.Cur), true
}

// Descriptors counts the descriptors that are open, and says how many may be; open is negative
// where that is not told.
func Descriptors() (open, limit int64) {
	open = -1
	if entries, err := os.ReadDir(descriptorsDir); err == nil {
		open = int64(len(entries)) - 1 // less the one that reads the directory
	}
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return open, unbounded
	}
	return open, int64(min(r.Cur, unbounded))
}

// Disk says how many bytes of the file system of a directory are free for this user, and how many
// it has.
func Disk(dir string) (free, total int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, fmt.Errorf("statfs %s: %w", dir, err)
	}
	bytes := func(blocks uint64) int64 {
		return int64(
			min(float64(blocks)*float64(st.Bsize), unbounded))
	}
	return bytes(st.Bavail), bytes(st.Blocks), nil
}

// Kind tells where a file system keeps its files.
type Kind int

// Kinds of file systems. What is not known is taken for local.
const (
	Local Kind = iota
	// Network file systems keep neither maps nor locks as promised.
	Network
	// Memory is where files are memory: tmpfs.
	Memory
)

// Filesystem is one by its name, "" where that is not known.
type Filesystem struct {
	Name string
	Kind Kind
}

// FilesystemOf tells on which file system a directory is.
func FilesystemOf(dir string) (Filesystem, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return Filesystem{}, fmt.Errorf("statfs %s: %w", dir, err)
	}
	return filesystem(&st), nil
}
