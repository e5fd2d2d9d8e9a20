package mmapfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// reserve allocates blocks for n bytes at an offset, and extends the file to them if it is shorter.
func reserve(f *os.File, at, n int64) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	more := at + n - st.Size()
	store := unix.Fstore_t{Flags: unix.F_ALLOCATEALL, Posmode: unix.F_PEOFPOSMODE, Length: more}
	// F_PREALLOCATE allocates only after the end of the file.
	if more <= 0 || unix.FcntlFstore(f.Fd(), unix.F_PREALLOCATE, &store) != nil {
		return fillHoles(f, at, n)
	}
	return f.Truncate(at + n)
}
