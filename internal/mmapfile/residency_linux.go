package mmapfile

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/portable"
)

// resident returns whether mincore(2) reports the first page of b as in memory. The kernel reports
// it only for files that the process may write, such as those of the cache. For others it is true.
func resident(b []byte) bool {
	if portable.Forced() {
		return true
	}
	var page [1]byte
	return mincore(b[:1], page[:]) != nil || page[0]&1 != 0
}

// cachedPages returns the number of a file's pages in memory. ok is false before Linux 6.5.
func cachedPages(f *os.File) (int64, bool) {
	if portable.Forced() {
		return 0, false
	}
	var whole unix.CachestatRange
	var stat unix.Cachestat_t
	if err := unix.Cachestat(uint(f.Fd()), &whole, &stat, 0); err != nil {
		return 0, false
	}
	return int64(stat.Cache), true
}

func evictPages(f *os.File) error { return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }

func populate(b []byte) error { return mapPages(b, unix.MADV_POPULATE_READ) }

// mapPages maps all pages of b at once, with an advice that Linux knows since 5.14.
func mapPages(b []byte, advice int) error {
	if portable.Forced() {
		return unix.ENOSYS
	}
	for {
		if err := unix.Madvise(b, advice); err != unix.EINTR {
			return err
		}
	}
}
