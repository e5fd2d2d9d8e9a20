package mmapfile

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// resident does not look, since a feed asks for each of its batches: what is missing is read when it is touched.
func resident([]byte) bool { return true }

// mincore tells of each page of b whether it is in memory, in the lowest bit of a byte. macOS has the call, but Go no wrapper of it.
func mincore(b, there []byte) error {
	_, _, failed := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), uintptr(unsafe.Pointer(unsafe.SliceData(there))))
	if failed != 0 {
		return failed
	}
	return nil
}

func cachedPages(*os.File) (int64, bool) { return 0, false }

func uncache(*os.File) error { return nil }

func populate([]byte) error { return unix.ENOSYS }
