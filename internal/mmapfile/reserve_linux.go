package mmapfile

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/portable"
)

// reserve makes the file at least at + n bytes long, and these n have blocks.
func reserve(f *os.File, at, n int64) error {
	if portable.Forced() {
		return fillHoles(f, at, n)
	}
	for {
		err := unix.Fallocate(int(f.Fd()), 0, at, n)
		if err == unix.EOPNOTSUPP {
			return fillHoles(f, at, n)
		}
		if err != unix.EINTR {
			return err
		}
	}
}
