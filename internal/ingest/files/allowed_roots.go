// Package files finds, checks, hashes and decompresses the files that a load reads.
//
// Sources are read with pread and never mapped: a file that shrinks under a load is an error, not a
// SIGBUS. Size, mtime and inode of a source are compared before and after the load.
package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
)

// Reach is which files may be sources. The zero value is every file that the process may read; of a limited reach those below its
// roots only, wherever a link leads. All sources are opened and looked at through it, in the daemon and in the child: a path that
// is exchanged between two looks leads nowhere else.
type AllowedRoots struct {
	Limited bool     `json:"limited,omitempty"`
	Roots   []string `json:"roots,omitempty"`
}

// Open opens a regular file for reading. It never waits for a pipe's other end.
func (r AllowedRoots) Open(path string) (*os.File, error) {
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
	return f, nil
}

func (r AllowedRoots) StatFile(path string) (fs.FileInfo, error) {
	return withRoot(r, path, func(root *os.Root, rel string) (fs.FileInfo, error) {
		if root == nil {
			return os.Stat(path)
		}
		return root.Stat(rel)
	})
}

// readDir lists a folder, sorted.
func (r AllowedRoots) readDir(path string) ([]fs.DirEntry, error) {
	return withRoot(r, path, func(root *os.Root, rel string) ([]fs.DirEntry, error) {
		if root == nil {
			return os.ReadDir(path)
		}
		return fs.ReadDir(root.FS(), filepath.ToSlash(rel))
	})
}

// within looks a path up below the root that it lies in; without a limit root is nil.
func withRoot[T any](r AllowedRoots, path string, call func(root *os.Root, rel string) (T, error)) (result T, err error) {
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
	return result, &loaderr.SourceError{Path: path, Reason: "lies below none of the folders that may be loaded from by other users and over TCP", Hint: "start the daemon with --root DIR, or load it with tensorcache load on the daemon's machine", NotAllowed: true}
}

func callInRoot[T any](dir, rel string, call func(root *os.Root, rel string) (T, error)) (result T, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return result, err
	}
	defer root.Close()
	return call(root, rel)
}

// escapes reports whether a link led out of a root. The package os has no error of its own for that.
func leavesRoot(err error) bool {
	var pe *fs.PathError
	return errors.As(err, &pe) && pe.Err.Error() == "path escapes from parent"
}
