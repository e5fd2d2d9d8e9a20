package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// A log that is rotated consists of at most logFiles files of about maxLogSize.
const (
	maxLogSize = 1 << 20
	logFiles   = 3
)

// rotatedLog writes to a file that is open for reading and appending at the path. Before the file
// becomes larger than maxLogSize, its end is copied to path.1, path.1 becomes path.2, and the file is
// emptied. It stays the same file, so that what the runtime writes to standard error when it crashes is
// in it, too.
type rotatedLog struct {
	path   string
	file   *os.File
	failed bool // it cannot be rotated, and grows
}

// Write writes p. If the file cannot be rotated, it says so once.
func (l *rotatedLog) Write(p []byte) (int, error) {
	st, err := l.file.Stat()
	if err == nil && st.Size() > 0 && st.Size()+int64(len(p)) > maxLogSize && !l.failed {
		if err := l.rotate(st.Size()); err != nil {
			l.failed = true
			fmt.Fprintf(l.file, "rotate the log: %v\n", err)
		}
	}
	return l.file.Write(p)
}

// rotate replaces older files only once the copy is complete.
func (l *rotatedLog) rotate(size int64) error {
	from := max(0, size-maxLogSize)
	to, err := os.OpenFile(l.numbered(0), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, io.NewSectionReader(l.file, from, size-from))
	if err := errors.Join(err, to.Close()); err != nil {
		return errors.Join(err, os.Remove(to.Name()))
	}
	for i := logFiles - 1; i > 0; i-- {
		err := os.Rename(l.numbered(i-1), l.numbered(i))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return l.file.Truncate(0)
}

func (l *rotatedLog) numbered(i int) string { return fmt.Sprintf("%s.%d", l.path, i) }
