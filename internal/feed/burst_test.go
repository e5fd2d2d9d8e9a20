package feed

import (
	"encoding/binary"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/feed/transport"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// waiting is the socket of a client that sends a WAIT frame whenever it is asked to, and notices
// that it is woken.
type waiting struct {
	frame []byte // to be read next
	woken bool
}

// wait sends that the client has read so many descriptors and waits for more.
func (c *waiting) wait(read uint64) {
	c.frame = c.frame[:wire.HeaderSize]
	wire.PutHeader(c.frame, wire.FrameWait, wire.WaitSize)
	c.frame = binary.LittleEndian.AppendUint64(c.frame, read)
	c.woken = false
}

func (c *waiting) TryRead(b []byte) (int, error) {
	n := copy(b, c.frame)
	c.frame = c.frame[:0]
	return n, nil
}

func (c *waiting) Write(b []byte) (int, error) {
	c.woken = true
	return len(b), nil
}
func (c *waiting) Read(b []byte) (int, error)                     { return c.TryRead(b) }
func (c *waiting) ReadFor(b []byte, _ time.Duration) (int, error) { return c.TryRead(b) }
func (c *waiting) SetReadDeadline(time.Time) error                { return nil }
func (c *waiting) SetWriteDeadline(time.Time) error               { return nil }
func (c *waiting) Close() error                                   { return nil }

// TestServingABurstAllocatesNothing runs the bursts of a producer one by one. An allocation in each
// would make the daemon collect garbage all the time, and with a large index that takes longer than
// the batches.
func TestServingABurstAllocatesNothing(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 10_000)
	for _, delivery := range []string{batch.Slot, batch.View, batch.Local, batch.Starts} {
		for _, order := range []string{"sequential", "shuffle"} {
			if delivery == batch.View && order == "shuffle" {
				continue
			}
			t.Run(delivery+" "+order, func(t *testing.T) {
				s, detach := w.stream(t,
					request("d", queued(t), with("slots", 4), with("delivery", delivery),
						options("order", order, "batch_size", 32), spec("dtype", "float64")))
				defer detach()
				c := &waiting{frame: make([]byte, 0, 64)}
				s.connect(transport.New(c, s.queue, s.slots, s, &s.pool.Busy))
				s.pool.Begin()
				defer s.pool.End()
				words := unsafeSlice[uint64](s.queue)
				credits := words[wire.QueueFirst+transport.QueueCapacity(s.slots)*descriptorWords:]
				give := func() { // gives all slots back and waits for more
					count := words[wire.QueueGiven]
					for slot, lent := range s.lent {
						if lent {
							credits[count%uint64(s.slots)] = uint64(slot)
							count++
						}
					}
					sent := words[wire.QueueSent]
					atomic.StoreUint64(&words[wire.QueueRead], sent)
					atomic.StoreUint64(&words[wire.QueueGiven], count)
					c.wait(sent)
				}
				given := false
				turn := func() {
					n, err := s.next(true)
					if err == nil {
						err = s.begin(&s.bursts[0], n)
					}
					if err == nil {
						err = s.announce(&s.bursts[0])
					}
					if err == nil && len(c.frame) == 0 && !c.woken && given {
						t.Error("the client was not woken")
					}
					if err != nil {
						t.Fatal(err)
					}
					give()
					given = true
				}
				for range 400 { // more than an epoch
					turn()
				}
				if n := testing.AllocsPerRun(1000, turn); n > 0 {
					t.Errorf("%v allocations a burst, want none", n)
				}
			})
		}
	}
}
