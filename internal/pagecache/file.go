// Package pagecache reads and writes files in the page cache, without letting Go's scheduler take the
// P from the goroutine during the system call.
//
// Such a system call copies memory: some hundred KiB in some tens of microseconds. During a system
// call of more than 20 µs the Go runtime hands the goroutine's P to another thread
// (runtime.retake). That thread finds no work, and after the call the goroutine waits for a P. In a
// load with as many goroutines as cores, cores were idle for 12 to 25 % of the time.
//
// # Caveats
//
// If the system call waits for a disk, the P waits too. Use the package only in a process that
// serves no requests, with at most as many goroutines as cores: the child process of a load.
// Signals and the garbage collector wait until the call returns.
package pagecache

import "os"

// File is a file whose ReadAt and WriteAt do not release the P, if the system supports it. What one
// such call does not read or write, for any reason, [os.File] reads or writes, with its errors. The
// file must not be closed during a call.
type File struct{ *os.File }

// ReadAt reads like [os.File.ReadAt].
func (f File) ReadAt(b []byte, at int64) (int, error) {
	n := readAt(f.File, b, at)
	if n > 0 && n == len(b) {
		return n, nil
	}
	more, err := f.File.ReadAt(b[n:], at+int64(n))
	return n + more, err
}

// WriteAt writes like [os.File.WriteAt].
func (f File) WriteAt(b []byte, at int64) (int, error) {
	n := writeAt(f.File, b, at)
	if n > 0 && n == len(b) {
		return n, nil
	}
	more, err := f.File.WriteAt(b[n:], at+int64(n))
	return n + more, err
}
