package feed

import (
	"io"
	"time"
)

// link is a feed's connection once its request is answered. Close may be called from any goroutine and ends what waits.
type link interface {
	io.ReadWriteCloser
	CloseRead() error
	SetWriteDeadline(at time.Time) error
}
