package ingest

import (
	"errors"
	"math"
	"syscall"

	"golang.org/x/sys/unix"
)

// checkSpace refuses a load that does not fit, before anything is written.
func (l *load) checkSpace() error {
	need, have := l.need(), l.available(l.dir)
	if have < 0 || need <= have {
		return nil
	}
	return &NoSpaceError{Dir: l.dir, Need: need, Have: have, Text: "the result and what is kept beside it while it is made"}
}

// explain adds to a full disk what the load needs and what there is.
func (l *load) explain(err error) error {
	if !isFull(err) {
		return err
	}
	if e := (*NoSpaceError)(nil); errors.As(err, &e) {
		return err
	}
	return &NoSpaceError{Dir: l.dir, Need: l.need(), Have: max(0, l.available(l.dir)), Text: err.Error()}
}

// isFull tells whether a disk or a quota is.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// need is how many bytes the load takes in the cache directory, at most and about: the result, the columns that are scaled before
// they are narrowed, and what sorting takes.
func (l *load) need() int64 {
	var row, widest int64
	for i, c := range l.columns {
		size := l.stored(c, l.wanted.roles[i]).DType.Size() * max(1, c.width)
		widest = max(widest, size)
		row += size
		if l.Options.staged(c, l.wanted.roles[i]) {
			row += 8 * max(1, c.width)
			widest = max(widest, 8*max(1, c.width))
		}
	}
	for _, c := range l.calendarLayout() {
		row += c.DType.Size()
	}
	if l.Sort && l.order == nil { // once the order is known, it has its scratch
		row += 16 + widest
	}
	return l.rows*row + 1<<16
}

// available is how much a file system takes, negative where it does not tell. One that lies in memory takes no more than there
// is of that.
func available(dir string) int64 {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return -1
	}
	have := int64(min(float64(st.Bavail)*float64(st.Bsize), math.MaxInt64/2))
	if inMemory(&st) {
		have = min(have, availableMemory())
	}
	return have
}
