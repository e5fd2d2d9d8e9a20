package files

import (
	"errors"
	"syscall"

	"github.com/tensorcache/tensorcache/internal/machine"
)

// BlockBytes is the number of bytes that a worker reads from a source at a time.
const BlockBytes = 1 << 20

// IsFull reports whether err states that a disk or a quota is full.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// FreeSpace returns the number of free bytes of the file system of dir, or -1 if it is unknown. For
// a file system in memory, such as tmpfs, the result is at most the available memory.
func FreeSpace(dir string) int64 {
	have, _, err := machine.Disk(dir)
	if err != nil {
		return -1
	}
	if f, err := machine.FilesystemOf(dir); err == nil && f.Kind == machine.Memory {
		have = min(have, machine.Available())
	}
	return have
}
