package mmapfile

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/portable"
)

// resident asks mincore(2) for the page that begins with b. It answers for files that the caller
// could write, which the cache's are; of others it says that all is there.
func resident(b []byte) bool {
	if portable.Forced() {
		return true
	}
	var page [1]byte
	return mincore(b[:1], page[:]) != nil || page[0]&1 != 0
}

// cachedPages asks the kernel for the number of a file's pages in memory, which Linux tells from
// 6.5 on.
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

func uncache(f *os.File) error { return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }

func populate(b []byte) error { return touchPages(b, unix.MADV_POPULATE_READ) }

// touchPages has all pages of b faulted in at once, by one of the advices that Linux knows from
// 5.14 on.
func touchPages(b []byte, advice int) error {
	if portable.Forced() {
		return unix.ENOSYS
	}
	for {
		if err := unix.Madvise(b, advice); err != unix.EINTR {
			return err
		}
	}
}
