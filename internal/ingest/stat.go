package ingest

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/tensorcache/tensorcache/layout"
)

// Stat notes size, mtime and inode of each source, and refuses what cannot be one. A folder stands for the files in it. The
// error is a [SourceError].
func (r Reach) Stat(sources []string) ([]layout.Source, error) {
	files, err := r.expand(sources)
	if err != nil {
		return nil, err
	}
	return r.statFiles(files)
}

func (r Reach) statFiles(files []sourceFile) ([]layout.Source, error) {
	out := make([]layout.Source, len(files))
	for i, f := range files {
		path := f.path
		st, err := r.stat(path)
		if err != nil {
			return nil, statError(path, err)
		}
		if reason, hint := notLoadable(st); reason != "" {
			return nil, &SourceError{Path: path, Reason: reason, Hint: hint}
		}
		out[i] = layout.Source{Path: path, Bytes: st.Size(), MtimeNs: st.ModTime().UnixNano(), Inode: inode(st)}
	}
	return out, nil
}

func statError(path string, err error) error {
	if e := (*SourceError)(nil); errors.As(err, &e) {
		return e
	}
	reason := err.Error()
	var pe *fs.PathError
	if errors.As(err, &pe) {
		reason = pe.Err.Error()
	}
	if errors.Is(err, fs.ErrNotExist) {
		reason = "no such file"
	}
	return &SourceError{Path: path, Reason: reason}
}

// notLoadable says why a file cannot be a source, "" where it can.
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
		return "the file is empty", ""
	}
	return "", ""
}

func inode(st fs.FileInfo) uint64 {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return sys.Ino
	}
	return 0
}

// unchanged is an error when a source is not what it was before.
func (r Reach) unchanged(before []layout.Source) error {
	files := make([]sourceFile, len(before))
	for i, s := range before {
		files[i].path = s.Path
	}
	after, err := r.statFiles(files)
	if err != nil {
		return err
	}
	for i := range before {
		if !before[i].SameFile(after[i]) {
			return &SourceError{Path: before[i].Path, Reason: "the file was changed while it was loaded", Hint: "load it again once it is complete"}
		}
	}
	return nil
}
