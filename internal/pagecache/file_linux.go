//go:build amd64 || arm64

package pagecache

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/portable"
)

// readAt returns the number of bytes that one system call has read, or 0 on any error.
func readAt(f *os.File, b []byte, at int64) int { return call(unix.SYS_PREAD64, f, b, at) }

// writeAt returns the number of bytes that one system call has written, or 0 on any error.
func writeAt(f *os.File, b []byte, at int64) int { return call(unix.SYS_PWRITE64, f, b, at) }

func call(number uintptr, f *os.File, b []byte, at int64) int {
	if len(b) == 0 || portable.Forced() {
		return 0
	}
	n, _, failed := unix.RawSyscall6(number, f.Fd(), uintptr(unsafe.Pointer(unsafe.SliceData(b))),
		uintptr(len(b)), uintptr(at), 0, 0)
	runtime.KeepAlive(f)
	if failed != 0 {
		return 0
	}
	return int(n)
}
