package feed

import (
	"errors"
	"io"
	"net"
	"os"
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
//
// One goroutine reads, and one writes.
type quiet struct {
	incoming *os.File // the epoll instance
	wait     syscall.RawConn
	try      func(uintptr) bool
	into     []byte // what is being read, and how it went
	n        int
	err      error
	deadline atomic.Int64 // of writes, in Unix nanoseconds; 0 is none

	mu sync.Mutex
	fd int // -1 once it is released
}

// hush takes a connection's socket over; the connection is to be closed then. After the last use release closes the socket.
func hush(conn *net.UnixConn) (l link, release func(), err error) {
	if portable.Forced() {
		return conn, func() {}, nil
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
	switch {
	case q.err != nil:
		return 0, q.err
	case q.n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return q.n, nil
}

func (q *quiet) tryRead(uintptr) bool {
	for {
		q.n, q.err = unix.Read(q.fd, q.into)
		if q.err != unix.EINTR {
			return q.err != unix.EAGAIN
		}
	}
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

// SetWriteDeadline bounds writes, also one that is under way.
func (q *quiet) SetWriteDeadline(at time.Time) error {
	q.deadline.Store(at.UnixNano())
	return nil
}

// CloseRead ends what reads.
func (q *quiet) CloseRead() error { return q.shutdown(unix.SHUT_RD) }

// Close ends what reads and writes.
func (q *quiet) Close() error { return q.shutdown(unix.SHUT_RDWR) }

func (q *quiet) shutdown(how int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.fd < 0 {
		return net.ErrClosed
	}
	return unix.Shutdown(q.fd, how)
}

// release closes the socket; nothing reads or writes any more.
func (q *quiet) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	_ = unix.Close(q.fd)
	_ = q.incoming.Close()
	q.fd = -1
}
