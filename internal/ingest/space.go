package ingest

import (
	"errors"
	"math"
	"syscall"

	"golang.org/x/sys/unix"
)

// explain adds to a full disk what the load needs and what there is.
func (l *load) explain(err error) error {
	if !isFull(err) {
		return err
	}
	if e := (*NoSpaceError)(nil); errors.As(err, &e) {
		return err
	}
	return &NoSpaceError{Dir: l.dir, Need: l.need(), Have: available(l.dir), Text: err.Error()}
}

// isFull tells whether a disk or a quota is.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// need is about how many bytes the result takes.
func (l *load) need() int64 {
	var row int64
	for i, c := range l.columns {
		row += l.stored(c, l.wanted.roles[i]).DType.Size() * max(1, c.width)
		if l.Options.staged(c, l.wanted.roles[i]) {
			row += 8 * max(1, c.width)
		}
	}
	for _, c := range l.calendarLayout() {
		row += c.DType.Size()
	}
	return l.rows*row + 1<<16
}

// available is how much a file system takes.
func available(dir string) int64 {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0
	}
	if have := float64(st.Bavail) * float64(st.Bsize); have < math.MaxInt64 {
		return int64(have)
	}
	return math.MaxInt64
}
