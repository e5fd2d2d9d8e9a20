package mmapfile

import (
	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/portable"
)

// Populate makes n bytes from an offset on ready to be written through the mapping, in one call instead of a fault for each page;
// what is there stays. ok is false where the system cannot: writing works all the same.
func (w *Writable) Populate(at, n int64) (ok bool) {
	return touchPages(w.data[at/pageSize*pageSize:at+n], unix.MADV_POPULATE_WRITE) == nil
}

// largePage is the processor's, which the kernel cannot unmap in part.
const largePage = 2 << 20

// Release unmaps the large pages from that of one byte on to that of another, without it: what is in them stays, and whoever touches them has
// them again by faults. Whoever releases what it has written spares Close the work, which does it by itself.
func (w *Writable) Release(from, to int64) {
	if from, to = from/largePage*largePage, to/largePage*largePage; from < to && !portable.Forced() {
		_ = unix.Madvise(w.data[from:to], unix.MADV_DONTNEED) // else Close unmaps them
	}
}
