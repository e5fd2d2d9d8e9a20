package mmapfile

import "golang.org/x/sys/unix"

// Populate makes n bytes from an offset on ready to be written through the mapping, in one call
// instead of a fault for each page; what is there stays. ok is false where the system cannot:
// writing works all the same.
func (w *Writable) Populate(at, n int64) (ok bool) {
	return touchPages(w.data[at/pageSize*pageSize:at+n], unix.MADV_POPULATE_WRITE) == nil
}
