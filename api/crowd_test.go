package api

import (
	"log/slog"
	"net"
	"syscall"
	"testing"
)

// poor is a listener that has no descriptor at first.
type poor struct {
	net.Listener
	fails int
}

func (p *poor) Accept() (net.Conn, error) {
	if p.fails--; p.fails >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return nil, net.ErrClosed
}

func TestAWantOfDescriptorsPasses(t *testing.T) {
	l := &poor{fails: 2}
	if _, err := newCrowd(l, slog.New(slog.DiscardHandler), 2, 1).Accept(); err != net.ErrClosed {
		t.Errorf("got %v, want to be asked again until the listener is closed", err)
	}
	if l.fails >= 0 {
		t.Errorf("%d accepts were not tried", l.fails+1)
	}
}
