package mmapfile

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/portable"
)

// resident asks mincore(2) for the page that begins with b. It answers for files that the caller could write, which the cache's are;
// of others it says that all is there.
func resident(b []byte) bool {
	if portable.Forced() {
		return true
	}
	var page [1]byte
	_, _, failed := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(b))), 1, uintptr(unsafe.Pointer(&page)))
	return failed != 0 || page[0]&1 != 0
}

func populate(b []byte) { _ = unix.Madvise(b, unix.MADV_POPULATE_READ) }
