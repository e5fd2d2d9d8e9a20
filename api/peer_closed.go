package api

import (
	"errors"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// isLeft tells whether the client of a connection on which it has nothing more to say has closed
// it. It does not wait, and takes nothing of what came.
func peerClosed(conn net.Conn) (left bool) {
	if c, ok := conn.(*limitedConn); ok {
		conn = c.Conn
	}
	raw, ok := conn.(syscall.Conn)
	if !ok {
		return false // the next write tells
	}
	c, err := raw.SyscallConn()
	if err != nil {
		return true
	}
	err = c.Control(func(fd uintptr) {
		var b [1]byte
		n, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		left = err == nil && n == 0 || err != nil && !errors.Is(err, unix.EAGAIN) &&
			!errors.Is(err, unix.EINTR)
	})
	return left || err != nil
}
