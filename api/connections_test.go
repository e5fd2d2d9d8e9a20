package api

import (
	"log/slog"
	"net"
	"syscall"
	"testing"
)

// failingListener has no descriptor for the first connection.
type failingListener struct {
	net.Listener
	fails int
}

func (p *failingListener) Accept() (net.Conn, error) {
	if p.fails--; p.fails >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return nil, net.ErrClosed
}

func TestAcceptTriesAgainWhenDescriptorsRanOut(t *testing.T) {
	l := &failingListener{fails: 2}
	if _, err := limitConnections(l, slog.New(slog.DiscardHandler), 2,
		1<<20).Accept(); err != net.ErrClosed {
		t.Errorf("got %v, want to be asked again until the listener is closed", err)
	}
	if l.fails >= 0 {
		t.Errorf("%d accepts were not tried", l.fails+1)
	}
}

// TestConnectionsLeaveDescriptorsForOthers checks the limit of a process that may open few
// descriptors.
func TestConnectionsLeaveDescriptorsForOthers(t *testing.T) {
	for descriptors, want := range map[int64]int{1 << 62: 1024, 4096: 1024, 4000: 1000, 1024: 256,
		256: 64, 19: 4, 3: 4} {
		if l := limitConnections(nil, slog.New(slog.DiscardHandler), maxSocketConns,
			descriptors); l.limit != want {
			t.Errorf("of %d descriptors %d connections, want %d", descriptors, l.limit, want)
		}
	}
}
