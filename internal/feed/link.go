package feed

import (
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// link is a feed's connection once its request is answered. Close may be called from any goroutine and ends what waits, and so may
// deadlines be set; one goroutine does everything else.
type link interface {
	io.ReadWriteCloser
	// TryRead reads what is there; (0, nil) where that is nothing, and io.EOF after the last of it.
	TryRead(b []byte) (int, error)
	// Nap is Read that waits for d at most, and then is (0, nil).
	Nap(b []byte, d time.Duration) (int, error)
	SetReadDeadline(at time.Time) error
	SetWriteDeadline(at time.Time) error
}

// plain is a connection as it is, in Go's poller.
type plain struct {
	*net.UnixConn
	socket  syscall.RawConn
	attempt func(uintptr) bool
	attempted
}

// attempted is what is being read without waiting, and how it went.
type attempted struct {
	into []byte
	n    int
	err  error
}

func newPlain(conn *net.UnixConn) (*plain, error) {
	socket, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	p := &plain{UnixConn: conn, socket: socket}
	p.attempt = func(fd uintptr) bool {
		p.read(int(fd))
		return true
	}
	return p, nil
}

// TryRead is link's.
func (p *plain) TryRead(b []byte) (int, error) {
	p.into = b
	if err := p.socket.Read(p.attempt); err != nil {
		return 0, err
	}
	return p.result()
}

// Nap is link's. No feed with a queue has such a link.
func (p *plain) Nap([]byte, time.Duration) (int, error) { return 0, errors.ErrUnsupported }

// read asks the system, which may have nothing.
func (a *attempted) read(fd int) {
	for {
		if a.n, a.err = unix.Read(fd, a.into); a.err != unix.EINTR {
			return
		}
	}
}

func (a *attempted) result() (int, error) {
	switch {
	case a.err == unix.EAGAIN:
		return 0, nil
	case a.err != nil:
		return 0, a.err
	case a.n == 0 && len(a.into) > 0:
		return 0, io.EOF
	}
	return a.n, nil
}
