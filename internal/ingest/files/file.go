package files

import (
	"io/fs"
	"os"

	"github.com/tensorcache/tensorcache/internal/pagecache"
)

// File is a source that is open for reading. Its ReadAt keeps Go's processor during the system
// call, so use it in the child process of a load only: see [pagecache].
//
// If the source is a staged file, a read of bytes that are not staged returns an error, and
// [Staged.Err] returns it too.
type File struct {
	file   *os.File
	staged *stagedFile // nil if all bytes may be read
	at     int64       // of the next Read of a staged file
}

// NewFile returns an open file as a source. Close closes it.
func NewFile(f *os.File) *File { return &File{file: f} }

// ReadAt reads like [os.File.ReadAt].
func (f *File) ReadAt(p []byte, at int64) (int, error) {
	if f.staged != nil {
		if err := f.staged.check(at, int64(len(p))); err != nil {
			return 0, err
		}
	}
	return pagecache.File{File: f.file}.ReadAt(p, at)
}

// Read reads like [os.File.Read].
func (f *File) Read(p []byte) (int, error) {
	if f.staged == nil {
		return f.file.Read(p)
	}
	n, err := f.ReadAt(p, f.at)
	f.at += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

// Stat returns the [fs.FileInfo] of the file.
func (f *File) Stat() (fs.FileInfo, error) { return f.file.Stat() }

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }
