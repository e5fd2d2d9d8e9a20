package mmapfile

import "golang.org/x/sys/unix"

// Populate prepares n bytes at an offset to be written through the mapping, in one call instead of
// a page fault for each page. It does not change the bytes. If ok is false, the system has no such
// call, and writing works without it.
func (w *Writable) Populate(at, n int64) (ok bool) {
	return mapPages(w.data[at/pageSize*pageSize:at+n], unix.MADV_POPULATE_WRITE) == nil
}
