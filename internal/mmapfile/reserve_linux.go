package mmapfile

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/portable"
)

// reserve allocates blocks for n bytes at an offset, and extends the file to them if it is shorter.
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
