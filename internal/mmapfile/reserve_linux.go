package mmapfile

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/portable"
)

// reserve makes the file size bytes long with all its blocks allocated.
func reserve(f *os.File, size int64) error {
	if portable.Forced() {
		return fillHoles(f, size)
	}
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		if err == unix.EOPNOTSUPP {
			return fillHoles(f, size)
		}
		if err != unix.EINTR {
			return err
		}
	}
}
