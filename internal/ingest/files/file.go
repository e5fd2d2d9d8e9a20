package files

import (
	"io/fs"
	"os"

	"github.com/tensorcache/tensorcache/internal/pagecache"
)

// File is a source that is open for reading. Its ReadAt keeps Go's processor during the system
// call, so use it in the child process of a load only: see [pagecache].
type File struct{ file *os.File }

// NewFile returns an open file as a source. Close closes it.
func NewFile(f *os.File) *File { return &File{f} }

// ReadAt reads like [os.File.ReadAt].
func (f *File) ReadAt(p []byte, at int64) (int, error) {
	return pagecache.File{File: f.file}.ReadAt(p, at)
}

// Read reads like [os.File.Read].
func (f *File) Read(p []byte) (int, error) { return f.file.Read(p) }

// Stat returns the [fs.FileInfo] of the file.
func (f *File) Stat() (fs.FileInfo, error) { return f.file.Stat() }

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }
