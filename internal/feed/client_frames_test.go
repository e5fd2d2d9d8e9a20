package feed

import (
	"io"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/feed/transport"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// chatty is the end of a client that sends frames faster than they are read.
type chatty struct {
	transport.Socket
	frame []byte
	sent  int
	reads int
}

func (c *chatty) SetReadDeadline(time.Time) error  { return nil }
func (c *chatty) SetWriteDeadline(time.Time) error { return nil }
func (c *chatty) Write(b []byte) (int, error)      { return len(b), nil }

func (c *chatty) TryRead(b []byte) (int, error) {
	if c.reads++; c.reads > 100 {
		return 0, io.EOF
	}
	for i := range b {
		b[i] = c.frame[(c.sent+i)%len(c.frame)]
	}
	c.sent += len(b)
	return len(b), nil
}

// TestAClientThatNeverStopsSendingHoldsNothingUp: its feed goes on, and can be closed.
func TestAClientThatNeverStopsSendingHoldsNothingUp(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 1000)
	st, detach := w.stream(t, request("d"))
	defer detach()
	frame := make([]byte, wire.HeaderSize+wire.MeterSize)
	wire.PutHeader(frame, wire.FrameMeter, wire.MeterSize)
	c := &chatty{frame: frame}
	st.connect(transport.New(c, nil, st.slots, st, &st.pool.Busy))
	why := wire.NewProblem(wire.FeedClosed, "enough")
	st.close(why)
	if err := st.serve(); err != why || c.reads > 1 {
		t.Errorf("got %v after %d reads, want the reason after one", err, c.reads)
	}
}

// TestAllSlotsComeBackInOneFrame: a client that holds all of the most slots gives them back at
// once.
func TestAllSlotsComeBackInOneFrame(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 1000)
	tr := w.attach(t, request("d", with("slots", maxSlots), with("delivery", batch.Starts),
		options("batch_size", 1)))
	defer tr.close()
	var slots []uint32
	for _, d := range tr.take(t, maxSlots) {
		slots = append(slots, d.Slot)
	}
	tr.credit(t, slots...)
	tr.batch(t)
}
