package ingest

import (
	"errors"
	"syscall"

	"github.com/tensorcache/tensorcache/internal/machine"
)

// blockBytes is how much of a text file a worker reads at once.
const blockBytes = 1 << 20

// isFull tells whether a disk or a quota is.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// available is how much a file system takes, negative where it does not tell. One that lies in memory takes no more than there
// is of that.
func available(dir string) int64 {
	have, _, err := machine.Disk(dir)
	if err != nil {
		return -1
	}
	if f, err := machine.FilesystemOf(dir); err == nil && f.Kind == machine.Memory {
		have = min(have, machine.Available())
	}
	return have
}
