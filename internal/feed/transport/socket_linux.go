package transport

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/portable"
)

// timerSlack is how much later than requested the system ends a wait, because it groups timers.
const timerSlack = 50 * time.Microsecond

// waitReadable waits for at most d until the socket is readable; if it is not, the error is
// EAGAIN. It is a system call, not a wait in Go's poller: handing the processor to another thread
// and getting one back takes 45 µs of CPU, mostly in threads that look for work, and the system
// call takes 5 µs (docs/performance.md).
func waitReadable(fd int, d time.Duration) (bool, error) {
	wait := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN | unix.POLLRDHUP}}
	timeout := unix.NsecToTimespec(int64(max(0, d-timerSlack)))
	n, err := unix.Ppoll(wait[:], &timeout, nil)
	if n == 0 || err == unix.EINTR {
		return false, unix.EAGAIN
	}
	return err == nil, err
}

// HasQueues reports whether a client in any language can be one side of a queue on this system.
func HasQueues() bool { return runtime.GOARCH == "amd64" && !portable.Forced() }
