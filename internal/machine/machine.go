// Package machine reports the resources of the machine, or of the container of the process: memory,
// disk and file descriptors.
//
// [Limit] and [Available] take control groups of both versions into account. A value that the
// system does not report is no limit.
package machine

import (
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// unknownTotal is the assumed memory of a machine if the system does not report it.
const unknownTotal = 4 << 30

// noLimit is the value of a limit that does not exist.
const noLimit = math.MaxInt64 / 2

// MemlockLimit returns how many bytes the process may lock in memory. ok is false if there is no
// limit.
func MemlockLimit() (bytes int64, ok bool) {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &r); err != nil ||
		r.Cur > math.MaxInt64 || canLockAll() {
		return 0, false
	}
	return int64(r.Cur), true
}

// Descriptors returns the number of open file descriptors and their limit. open is negative if it
// is unknown.
func Descriptors() (open, limit int64) {
	open = -1
	if entries, err := os.ReadDir(descriptorsDir); err == nil {
		open = int64(len(entries)) - 1 // without the descriptor of the directory itself
	}
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return open, noLimit
	}
	return open, int64(min(r.Cur, noLimit))
}

// Disk returns the free bytes for this user and the size of the file system of a directory.
func Disk(dir string) (free, total int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, fmt.Errorf("statfs %s: %w", dir, err)
	}
	bytes := func(blocks uint64) int64 {
		return int64(
			min(float64(blocks)*float64(st.Bsize), noLimit))
	}
	return bytes(st.Bavail), bytes(st.Blocks), nil
}

// Kind is where a file system stores its files.
type Kind int

// Kinds of file systems. An unknown file system counts as local.
const (
	Local Kind = iota
	// Network file systems do not guarantee the semantics of maps and locks.
	Network
	// Memory file systems, such as tmpfs, store files in memory.
	Memory
)

// Filesystem is a file system. Its name is "" if it is unknown.
type Filesystem struct {
	Name string
	Kind Kind
}

// FilesystemOf returns the file system of a directory.
func FilesystemOf(dir string) (Filesystem, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return Filesystem{}, fmt.Errorf("statfs %s: %w", dir, err)
	}
	return filesystem(&st), nil
}
