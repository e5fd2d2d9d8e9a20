package api

import (
	"errors"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// peerClosed reports whether the client has closed its connection. It does not block and does not
// consume input.
func peerClosed(conn net.Conn) (closed bool) {
	if c, ok := conn.(*limitedConn); ok {
		conn = c.Conn
	}
	raw, ok := conn.(syscall.Conn)
	if !ok {
		return false // the next write will fail
	}
	c, err := raw.SyscallConn()
	if err != nil {
		return true
	}
	err = c.Control(func(fd uintptr) {
		var b [1]byte
		n, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		closed = err == nil && n == 0 || err != nil && !errors.Is(err, unix.EAGAIN) &&
			!errors.Is(err, unix.EINTR)
	})
	return closed || err != nil
}
