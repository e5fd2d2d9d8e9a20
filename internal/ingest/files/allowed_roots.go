// Package files finds, checks, hashes and decompresses the files that a load reads.
//
// [AllowedRoots] limits which files a load may open, and opens them. [Formats] lists the file
// formats. [Decompress] decompresses a file into a temporary file.
//
// # Caveats
//
// Sources are read with pread and never mapped: if a file shrinks during a load, the load returns
// an error and the process gets no SIGBUS. Size, mtime and inode of a source are compared before
// and after the load. Open and inspect sources only with the methods of [AllowedRoots].
package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// AllowedRoots limits which files may be sources. The zero value allows every file that the process
// can read. If Limited is set, only files below Roots are allowed, and symbolic links cannot leave
// a root. The daemon and the child open and stat all sources with its methods, so that a path that
// is replaced between two calls still cannot leave a root.
type AllowedRoots struct {
	// Limited states that only files below Roots are allowed; without Roots, none is.
	Limited bool `json:"limited,omitempty"`
	// Roots are directories.
	Roots []string `json:"roots,omitempty"`
}

// Open opens a regular file for reading. It returns a [loaderr.SourceError] for any other kind of
// file. It does not block on a named pipe.
func (r AllowedRoots) Open(path string) (*File, error) {
	const flags = os.O_RDONLY | syscall.O_NONBLOCK
	f, err := withRoot(r, path, func(root *os.Root, rel string) (*os.File, error) {
		if root == nil {
			return os.OpenFile(path, flags, 0)
		}
		return root.OpenFile(rel, flags, 0)
	})
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		reason, hint := notLoadable(st)
		err = &loaderr.SourceError{Path: path, Reason: reason, Hint: hint}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return NewFile(f), nil
}

// StatFile returns the [fs.FileInfo] of a path. It follows symbolic links.
func (r AllowedRoots) StatFile(path string) (fs.FileInfo, error) {
	return withRoot(r, path, func(root *os.Root, rel string) (fs.FileInfo, error) {
		if root == nil {
			return os.Stat(path)
		}
		return root.Stat(rel)
	})
}

// readDir returns the entries of a directory, sorted by name.
func (r AllowedRoots) readDir(path string) ([]fs.DirEntry, error) {
	return withRoot(r, path, func(root *os.Root, rel string) ([]fs.DirEntry, error) {
		if root == nil {
			return os.ReadDir(path)
		}
		return fs.ReadDir(root.FS(), filepath.ToSlash(rel))
	})
}

// withRoot calls call with the first root that contains path, and with the path relative to that
// root. If a symbolic link leaves the root, it tries the next one. If files are not limited, root
// is nil and rel is path. withRoot returns a [loaderr.SourceError] if no root contains the path.
func withRoot[T any](
	r AllowedRoots, path string, call func(root *os.Root, rel string) (T, error),
) (result T, err error) {
	if !r.Limited {
		return call(nil, path)
	}
	for _, dir := range r.Roots {
		rel, err := filepath.Rel(dir, path)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		result, err := callInRoot(dir, rel, call)
		if !leavesRoot(err) {
			return result, err
		}
	}
	return result, &loaderr.SourceError{
		Path:       path,
		Reason:     "is outside the folders that other users and TCP clients may load from",
		Hint:       "start the daemon with its folder as a root, or load it with tensorcache load on the daemon's machine",
		NotAllowed: true,
	}
}

// callInRoot calls call with the directory as an [os.Root].
func callInRoot[T any](
	dir, rel string, call func(root *os.Root, rel string) (T, error),
) (result T, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return result, err
	}
	defer root.Close()
	return call(root, rel)
}

// leavesRoot reports whether err is the error of [os.Root] for a path that leaves the root. It
// compares the text, because package os exports no error for that.
func leavesRoot(err error) bool {
	var pe *fs.PathError
	return errors.As(err, &pe) && pe.Err.Error() == "path escapes from parent"
}
