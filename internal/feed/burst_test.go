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

// waitingSocket is the socket of a client that sends WAIT frames and records wake-ups.
type waitingSocket struct {
	frame []byte // the next one to be read
	woken bool
}

// wait sends a WAIT frame: the client has read a number of descriptors and waits for more.
func (c *waitingSocket) wait(read uint64) {
	c.frame = c.frame[:wire.HeaderSize]
	wire.PutHeader(c.frame, wire.FrameWait, wire.WaitSize)
	c.frame = binary.LittleEndian.AppendUint64(c.frame, read)
	c.woken = false
}

func (c *waitingSocket) TryRead(b []byte) (int, error) {
	n := copy(b, c.frame)
	c.frame = c.frame[:0]
	return n, nil
}

func (c *waitingSocket) Write(b []byte) (int, error) {
	c.woken = true
	return len(b), nil
}
func (c *waitingSocket) Read(b []byte) (int, error)                     { return c.TryRead(b) }
func (c *waitingSocket) ReadFor(b []byte, _ time.Duration) (int, error) { return c.TryRead(b) }
func (c *waitingSocket) SetReadDeadline(time.Time) error                { return nil }
func (c *waitingSocket) SetWriteDeadline(time.Time) error               { return nil }
func (c *waitingSocket) Close() error                                   { return nil }

// TestServingABurstAllocatesNothing runs the bursts of a producer one by one. If each allocated
// memory, the garbage collector would run all the time, and with a large index it takes longer than
// the batches.
func TestServingABurstAllocatesNothing(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 10_000)
	for _, delivery := range []string{batch.Slot, batch.View, batch.Local, batch.Starts} {
		for _, order := range []string{"sequential", "shuffle"} {
			if delivery == batch.View && order == "shuffle" {
				continue
			}
			t.Run(delivery+" "+order, func(t *testing.T) {
				s, detach := env.attachFeed(t,
					request("d", withQueue(t), with("slots", 4), with("delivery", delivery),
						options("order", order, "batch_size", 32), spec("dtype", "float64")))
				defer detach()
				c := &waitingSocket{frame: make([]byte, 0, 64)}
				s.connect(transport.New(c, s.queue, s.slots, s, &s.pool.Busy))
				s.pool.Begin()
				defer s.pool.End()
				words := unsafeSlice[uint64](s.queue)
				credits := words[wire.QueueFirst+transport.QueueCapacity(s.slots)*descriptorWords:]
				give := func() { // returns all slots and waits for more batches
					count := words[wire.QueueGiven]
					for slot, owned := range s.clientOwns {
						if owned {
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
