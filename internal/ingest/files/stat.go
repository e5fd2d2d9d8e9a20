package files

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// Stat returns size, mtime and inode of each source. It replaces a directory by the files in it.
// The error is a [loaderr.SourceError] for a path that cannot be a source, or a
// [loaderr.OptionError] if there are more than [MaxFiles] sources.
func (r AllowedRoots) Stat(sources []string) ([]layout.Source, error) {
	files, err := r.Expand(sources)
	if err != nil {
		return nil, err
	}
	return SourcesOf(files)
}

// SourcesOf returns size, mtime and inode of expanded sources, without system calls. The error is a
// [loaderr.SourceError] for a file that cannot be a source.
func SourcesOf(files []SourceFile) ([]layout.Source, error) {
	out := make([]layout.Source, len(files))
	for i, f := range files {
		var err error
		if out[i], err = sourceOf(f.Path, f.info); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// sourceOf returns the source of one file, or an error if the file cannot be a source.
func sourceOf(path string, st fs.FileInfo) (layout.Source, error) {
	if reason, hint := notLoadable(st); reason != "" {
		return layout.Source{}, &loaderr.SourceError{Path: path, Reason: reason, Hint: hint}
	}
	return layout.Source{Path: path, Bytes: st.Size(), MtimeNs: st.ModTime().UnixNano(),
		Inode: inode(st)}, nil
}

// hintDescriptors is the hint of errors about the limit of open files.
const hintDescriptors = "raise the limit (ulimit -n, LimitNOFILE= of a systemd unit) and start the daemon again, or load some and append the others"

// CheckDescriptors returns a [loaderr.OptionError] if there are more files than the process may
// have open. A load opens all files to count their rows and closes them when it ends.
func CheckDescriptors(files int, limit uint64) error {
	if uint64(files) <= limit {
		return nil
	}
	return &loaderr.OptionError{
		Field: "sources", Value: strconv.Itoa(files), Bare: true,
		Allowed: fmt.Sprintf("fewer than the %d files that may be open at once", limit),
		Hint:    hintDescriptors,
	}
}

// DescriptorLimit returns the number of files that this process may have open.
func DescriptorLimit() uint64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return math.MaxInt64
	}
	return l.Cur
}

// AsSourceError returns err as a [loaderr.SourceError] of the path. If err already contains one, it
// returns that. It adds hints for missing files, permissions and too many open files.
func AsSourceError(path string, err error) error {
	if e := (*loaderr.SourceError)(nil); errors.As(err, &e) {
		return e
	}
	reason, hint := err.Error(), ""
	var pe *fs.PathError
	if errors.As(err, &pe) {
		reason = pe.Err.Error()
	}
	if errors.Is(err, fs.ErrNotExist) {
		reason, hint = "no such file",
			"look at the path; a pattern is matched by its names, as 'data/*.csv'"
	}
	if errors.Is(err, fs.ErrPermission) {
		hint = fmt.Sprintf("the daemon's user (uid %d) must be able to read it, and to enter "+
			"the folders above it", os.Getuid())
	}
	if errors.Is(err, syscall.EMFILE) {
		hint = hintDescriptors
	}
	return &loaderr.SourceError{Path: path, Reason: reason, Hint: hint}
}

// notLoadable returns the reason why a file cannot be a source, or "" if it can be one.
func notLoadable(st fs.FileInfo) (reason, hint string) {
	switch mode := st.Mode(); {
	case mode.IsDir():
		return "is a directory, want a file", "name the files in it"
	case mode&fs.ModeSocket != 0:
		return "is a socket, want a file", "arrays are sent with put"
	case mode&fs.ModeNamedPipe != 0:
		return "is a pipe, want a file", "a stream is sent with tensorcache put"
	case !mode.IsRegular():
		return "is a device, want a file", ""
	case st.Size() == 0:
		return "the file is empty", loaderr.HintEmpty
	}
	return "", ""
}

// inode returns the inode number of a file, or 0 if it is unknown.
func inode(st fs.FileInfo) uint64 {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return sys.Ino
	}
	return 0
}

// Unchanged returns a [loaderr.SourceError] if size, mtime or inode of a source differ from before.
func (r AllowedRoots) Unchanged(before []layout.Source) error {
	for _, s := range before {
		st, err := r.StatFile(s.Path)
		if err != nil {
			return AsSourceError(s.Path, err)
		}
		after, err := sourceOf(s.Path, st)
		if err != nil {
			return err
		}
		if !s.SameFile(after) {
			return &loaderr.SourceError{
				Path: s.Path, Reason: "the file was changed while it was loaded",
				Hint: loaderr.HintChanged,
			}
		}
	}
	return nil
}
