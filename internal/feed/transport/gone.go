package transport

import (
	"errors"
	"io"
	"net"

	"golang.org/x/sys/unix"
)

// IsGone reports whether an error means only that the client has gone away.
func IsGone(err error) bool {
	for _, sign := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, unix.EPIPE,
		unix.ECONNRESET} {
		if errors.Is(err, sign) {
			return true
		}
	}
	return false
}
