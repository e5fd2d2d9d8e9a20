package files

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/ingest/loaderr"
	"github.com/tensorcache/tensorcache/layout"
)

// Stat notes size, mtime and inode of each source, and refuses what cannot be one. A folder stands for the files in it. The
// error is a [SourceError], or an [OptionError] of more than 100,000 sources.
func (r AllowedRoots) Stat(sources []string) ([]layout.Source, error) {
	files, err := r.Expand(sources)
	if err != nil {
		return nil, err
	}
	return SourcesOf(files)
}

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

// sourceOf refuses what cannot be a source.
func sourceOf(path string, st fs.FileInfo) (layout.Source, error) {
	if reason, hint := notLoadable(st); reason != "" {
		return layout.Source{}, &loaderr.SourceError{Path: path, Reason: reason, Hint: hint}
	}
	return layout.Source{Path: path, Bytes: st.Size(), MtimeNs: st.ModTime().UnixNano(), Inode: inode(st)}, nil
}

const hintDescriptors = "raise the limit (ulimit -n, LimitNOFILE= of a systemd unit) and start the daemon again, or load some and append the others"

// CheckDescriptors refuses more files than may be open at once: all of them are, from when their rows are counted until they are read.
func CheckDescriptors(files int, limit uint64) error {
	if uint64(files) <= limit {
		return nil
	}
	return &loaderr.OptionError{Field: "sources", Value: fmt.Sprintf("%d files", files), Allowed: fmt.Sprintf("fewer than the %d that may be open at once", limit), Hint: hintDescriptors}
}

// DescriptorLimit is how many files this process may have open.
func DescriptorLimit() uint64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return math.MaxInt64
	}
	return l.Cur
}

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
		reason, hint = "no such file", "look at the path; a pattern is matched by its names, as 'data/*.csv'"
	}
	if errors.Is(err, syscall.EMFILE) {
		hint = hintDescriptors
	}
	return &loaderr.SourceError{Path: path, Reason: reason, Hint: hint}
}

// notLoadable says why a file cannot be a source, "" if it can.
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

func inode(st fs.FileInfo) uint64 {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return sys.Ino
	}
	return 0
}

// Unchanged is an error when a source is not what it was before.
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
			return &loaderr.SourceError{Path: s.Path, Reason: "the file was changed while it was loaded", Hint: loaderr.HintChanged}
		}
	}
	return nil
}
