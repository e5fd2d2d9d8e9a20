package transport

import (
	"io"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Socket is the socket of a feed. Close and the deadlines may be called from any goroutine and end
// a Read or a Write that waits. One goroutine calls all other methods.
type Socket interface {
	io.ReadWriteCloser
	// TryRead reads without waiting. It returns (0, nil) if there is nothing to read, and io.EOF
	// at the end.
	TryRead(b []byte) (int, error)
	// ReadFor reads, but waits for at most d and then returns (0, nil). Close does not end it
	// early.
	ReadFor(b []byte, d time.Duration) (int, error)
	SetReadDeadline(at time.Time) error
	SetWriteDeadline(at time.Time) error
}

// unixSocket is a Unix socket.
type unixSocket struct {
	*net.UnixConn
	raw syscall.RawConn
	try func(uintptr) bool

	// What try reads into, how long it waits for something to read, and its result.
	into    []byte
	timeout time.Duration
	n       int
	err     error
}

// NewSocket returns a connected Unix socket as a Socket.
func NewSocket(conn *net.UnixConn) (Socket, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &unixSocket{UnixConn: conn, raw: raw}
	s.try = func(fd uintptr) bool {
		s.read(int(fd))
		return true
	}
	return s, nil
}

// TryRead implements Socket.
func (s *unixSocket) TryRead(b []byte) (int, error) { return s.ReadFor(b, 0) }

// ReadFor implements Socket.
func (s *unixSocket) ReadFor(b []byte, d time.Duration) (int, error) {
	s.into, s.timeout = b, d
	if err := s.raw.Read(s.try); err != nil {
		return 0, err
	}
	switch {
	case s.err == unix.EAGAIN:
		return 0, nil
	case s.err != nil:
		return 0, s.err
	case s.n == 0 && len(s.into) > 0:
		return 0, io.EOF
	}
	return s.n, nil
}

func (s *unixSocket) read(fd int) {
	if s.timeout > 0 {
		if readable, err := waitReadable(fd, s.timeout); !readable {
			s.n, s.err = 0, err
			return
		}
	}
	for {
		if s.n, s.err = unix.Read(fd, s.into); s.err != unix.EINTR {
			return
		}
	}
}
