package mmapfile

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/portable"
)

// Populate makes n bytes from an offset on ready to be written through the mapping, in one call instead of a fault for each page;
// what is there stays. ok is false where the system cannot: writing works all the same.
func (w *Writable) Populate(at, n int64) (ok bool) {
	if portable.Forced() {
		return false
	}
	page := int64(os.Getpagesize())
	before := at % page
	for {
		err := unix.Madvise(w.data[at-before:at+n], unix.MADV_POPULATE_WRITE)
		if err != unix.EINTR {
			return err == nil // Linux knows it from 5.14 on
		}
	}
}
