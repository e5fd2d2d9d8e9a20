// Package cached reads and writes files that the page cache holds, without telling Go's scheduler.
//
// Such a system call is a copy of memory: some tens of microseconds for some hundred KiB, on a processor that has nothing else to do
// meanwhile. Go takes the goroutine's processor away from it all the same as soon as it lasts longer than 20 µs and hands it to another
// thread (runtime.retake), which finds no work; back from the call the goroutine waits until it is given one again. Loading a file so
// with as many goroutines as cores left an eighth to a quarter of the time of the cores unused.
//
// # Caveats
//
// Where the system waits for a disk after all, the core waits with it. So it is for goroutines that are no more than the cores, in a
// process that has nothing to answer meanwhile: that of a load. Signals and the collector wait until a call is over.
package cached

import "os"

// File is a file whose ReadAt and WriteAt keep the processor, where the system has a way to; whatever is not read or written so, for
// whatever reason, they do as [os.File] does, with its errors. It must not be closed meanwhile.
type File struct{ *os.File }

// ReadAt reads as [os.File.ReadAt] does.
func (f File) ReadAt(b []byte, at int64) (int, error) {
	n := readAt(f.File, b, at)
	if n > 0 && n == len(b) {
		return n, nil
	}
	more, err := f.File.ReadAt(b[n:], at+int64(n))
	return n + more, err
}

// WriteAt writes as [os.File.WriteAt] does.
func (f File) WriteAt(b []byte, at int64) (int, error) {
	n := writeAt(f.File, b, at)
	if n > 0 && n == len(b) {
		return n, nil
	}
	more, err := f.File.WriteAt(b[n:], at+int64(n))
	return n + more, err
}
