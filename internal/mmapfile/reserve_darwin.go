package mmapfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// reserve makes the file at least at + n bytes long, and these n have blocks.
func reserve(f *os.File, at, n int64) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	more := at + n - st.Size()
	store := unix.Fstore_t{Flags: unix.F_ALLOCATEALL, Posmode: unix.F_PEOFPOSMODE, Length: more}
	// the call adds to a file's end alone
	if more <= 0 || unix.FcntlFstore(f.Fd(), unix.F_PREALLOCATE, &store) != nil {
		return fillHoles(f, at, n)
	}
	return f.Truncate(at + n)
}
