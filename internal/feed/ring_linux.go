package feed

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/portable"
)

// ringFile creates a memory file. It is sealed, so that no process can change its size and make the
// daemon's writes fault.
func ringFile(dir string) (*os.File, func(*os.File) error, error) {
	if portable.Forced() {
		f, err := unlinkedFile(dir)
		return f, func(*os.File) error { return nil }, err
	}
	fd, err := unix.MemfdCreate("tensorcache-ring", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, nil, err
	}
	seal := func(f *os.File) error {
		_, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS,
			unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
		return err
	}
	return os.NewFile(uintptr(fd), "tensorcache-ring"), seal, nil
}
