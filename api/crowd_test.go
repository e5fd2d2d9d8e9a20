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
	if _, err := newCrowd(l, slog.New(slog.DiscardHandler), 2, 1, 1<<20).Accept(); err != net.ErrClosed {
		t.Errorf("got %v, want to be asked again until the listener is closed", err)
	}
	if l.fails >= 0 {
		t.Errorf("%d accepts were not tried", l.fails+1)
	}
}

// TestACrowdLeavesDescriptorsForOthers: where there are few, connections that say nothing may not take those of trainers.
func TestACrowdLeavesDescriptorsForOthers(t *testing.T) {
	for descriptors, want := range map[int64][2]int{1 << 62: {1024, 896}, 4096: {1024, 896}, 4000: {1000, 872}, 1024: {256, 192}, 256: {64, 48}, 19: {4, 3}, 3: {4, 3}} {
		c := newCrowd(nil, slog.New(slog.DiscardHandler), mostSocket, spareSocket, descriptors)
		if c.most != want[0] || c.mostBusy != want[1] {
			t.Errorf("of %d descriptors %d connections, %d busy, want %d", descriptors, c.most, c.mostBusy, want)
		}
	}
}
