package feed

import (
	"errors"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/portable"
)

// quiet is a socket whose peer may read without waking anybody here. Go's poller wants to know of each socket when it can be
// written to again, so each message that a trainer reads would wake the daemon, for nothing, and the trainer pays for the wake.
// This one is told of what comes in alone, by an epoll instance of its own that Go's poller watches in the socket's stead.
type quiet struct {
	incoming *os.File // the epoll instance
	wait     syscall.RawConn
	try      func(uintptr) bool
	attempted
	deadline atomic.Int64 // of writes, in Unix nanoseconds; 0 is none
	nap      [1]unix.PollFd

	mu sync.Mutex
	fd int // -1 once it is released
}

// hush takes a connection's socket over; the connection is to be closed then. After the last use release closes the socket.
func hush(conn *net.UnixConn) (l link, release func(), err error) {
	if portable.Forced() {
		l, err := newPlain(conn)
		return l, func() {}, err
	}
	q := &quiet{}
	if err := onFile(conn, func(fd int) error {
		q.fd, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		return err
	}); err != nil {
		return nil, nil, err
	}
	if err := q.watch(); err != nil {
		return nil, nil, errors.Join(err, unix.Close(q.fd))
	}
	return q, q.release, nil
}

func (q *quiet) watch() error {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	if err := unix.SetNonblock(fd, true); err != nil { // so that Go's poller takes it
		return errors.Join(err, unix.Close(fd))
	}
	q.incoming = os.NewFile(uintptr(fd), "epoll")
	if err := unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, q.fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP}); err != nil {
		return errors.Join(err, q.incoming.Close())
	}
	if q.wait, err = q.incoming.SyscallConn(); err != nil {
		return errors.Join(err, q.incoming.Close())
	}
	q.try = q.tryRead
	return nil
}

// Read waits for something to read.
func (q *quiet) Read(b []byte) (int, error) {
	q.into = b
	if err := q.wait.Read(q.try); err != nil {
		return 0, err
	}
	return q.result()
}

func (q *quiet) tryRead(uintptr) bool {
	q.read(q.fd)
	return q.err != unix.EAGAIN
}

// lateness is how much later than asked for the system ends a nap: it lets a process's timers ring together.
const lateness = 50 * time.Microsecond

// Nap is link's. It is a system call and no wait of Go's: to leave a thread to others, have Go's poller told and a thread found
// again takes 45 µs of CPU, mostly for threads that look for other work, and this takes 5 (bench/README.md).
func (q *quiet) Nap(b []byte, d time.Duration) (int, error) {
	q.nap[0] = unix.PollFd{Fd: int32(q.fd), Events: unix.POLLIN | unix.POLLRDHUP}
	most := unix.NsecToTimespec(int64(max(0, d-lateness)))
	if n, err := unix.Ppoll(q.nap[:], &most, nil); n == 0 || err == unix.EINTR {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	return q.TryRead(b)
}

// TryRead is link's.
func (q *quiet) TryRead(b []byte) (int, error) {
	q.into = b
	q.read(q.fd)
	return q.result()
}

// writeTick is how soon a write that waits for room looks whether its deadline has come.
const writeTick = 100 * time.Millisecond

// Write sends all of b. That there is no room is rare: thousands of batches are announced and not read.
func (q *quiet) Write(b []byte) (sent int, err error) {
	for sent < len(b) {
		n, err := unix.Write(q.fd, b[sent:])
		switch {
		case err == nil:
			sent += n
		case err == unix.EAGAIN:
			if at := q.deadline.Load(); at != 0 && time.Now().UnixNano() >= at {
				return sent, os.ErrDeadlineExceeded
			}
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(q.fd), Events: unix.POLLOUT}}, int(writeTick.Milliseconds()))
		case err != unix.EINTR:
			return sent, err
		}
	}
	return sent, nil
}

// SetReadDeadline bounds what waits for something to read, also now.
func (q *quiet) SetReadDeadline(at time.Time) error { return q.incoming.SetReadDeadline(at) }

// SetWriteDeadline bounds writes, also one that is under way.
func (q *quiet) SetWriteDeadline(at time.Time) error {
	q.deadline.Store(at.UnixNano())
	return nil
}

// Close ends what reads and writes.
func (q *quiet) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.fd < 0 {
		return net.ErrClosed
	}
	return unix.Shutdown(q.fd, unix.SHUT_RDWR)
}

// release closes the socket; nothing reads or writes any more.
func (q *quiet) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	_ = unix.Close(q.fd)
	_ = q.incoming.Close()
	q.fd = -1
}

// queues tells whether a client in any language can be one side of a queue here.
func queues() bool { return runtime.GOARCH == "amd64" && !portable.Forced() }
