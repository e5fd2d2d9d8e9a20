package files

import (
	"errors"
	"syscall"

	"github.com/tensorcache/tensorcache/internal/machine"
)

// BlockBytes is how much of a text file a worker reads at once.
const BlockBytes = 1 << 20

// IsFull reports whether a disk or a quota is.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// FreeSpace is how much a file system takes, negative where it does not tell. One that lies in memory takes no more than there
// is of that.
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
