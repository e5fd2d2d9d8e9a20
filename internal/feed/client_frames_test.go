package feed

import (
	"io"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/feed/transport"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// floodingSocket is the socket of a client that sends frames faster than the daemon reads them.
type floodingSocket struct {
	transport.Socket
	frame []byte
	sent  int
	reads int
}

func (c *floodingSocket) SetReadDeadline(time.Time) error  { return nil }
func (c *floodingSocket) SetWriteDeadline(time.Time) error { return nil }
func (c *floodingSocket) Write(b []byte) (int, error)      { return len(b), nil }

func (c *floodingSocket) TryRead(b []byte) (int, error) {
	if c.reads++; c.reads > 100 {
		return 0, io.EOF
	}
	for i := range b {
		b[i] = c.frame[(c.sent+i)%len(c.frame)]
	}
	c.sent += len(b)
	return len(b), nil
}

// TestAClientThatSendsForeverDoesNotBlockItsFeed: the feed continues, and can be closed.
func TestAClientThatSendsForeverDoesNotBlockItsFeed(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1000)
	st, detach := env.attachFeed(t, request("d"))
	defer detach()
	frame := make([]byte, wire.HeaderSize+wire.MeterSize)
	wire.PutHeader(frame, wire.FrameMeter, wire.MeterSize)
	c := &floodingSocket{frame: frame}
	st.connect(transport.New(c, nil, st.slots, st, &st.pool.Busy))
	why := wire.NewProblem(wire.FeedClosed, "enough")
	st.close(why)
	if err := st.serve(); err != why || c.reads > 1 {
		t.Errorf("got %v after %d reads, want the reason after one", err, c.reads)
	}
}

// TestAllSlotsFitIntoOneCreditFrame returns the largest number of slots in one frame.
func TestAllSlotsFitIntoOneCreditFrame(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1000)
	tr := env.attach(t, request("d", with("slots", maxSlots), with("delivery", batch.Starts),
		options("batch_size", 1)))
	defer tr.close()
	var slots []uint32
	for _, d := range tr.take(t, maxSlots) {
		slots = append(slots, d.Slot)
	}
	tr.credit(t, slots...)
	tr.batch(t)
}
