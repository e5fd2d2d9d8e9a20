package mmapfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// reserve makes the file size bytes long with all its blocks allocated.
func reserve(f *os.File, size int64) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	store := unix.Fstore_t{Flags: unix.F_ALLOCATEALL, Posmode: unix.F_PEOFPOSMODE, Length: max(0, size-st.Size())}
	if err := unix.FcntlFstore(f.Fd(), unix.F_PREALLOCATE, &store); err != nil {
		return fillHoles(f, size)
	}
	return f.Truncate(max(size, st.Size()))
}
