package feed

import (
	"sync/atomic"
	"testing"
	"time"
)

// mute is a link on which nothing comes and what is written is forgotten.
type mute struct{}

func (mute) Read([]byte) (int, error)                   { return 0, nil }
func (mute) TryRead([]byte) (int, error)                { return 0, nil }
func (mute) Nap(_ []byte, d time.Duration) (int, error) { return 0, nil }
func (mute) Write(b []byte) (int, error)                { return len(b), nil }
func (mute) SetReadDeadline(time.Time) error            { return nil }
func (mute) SetWriteDeadline(time.Time) error           { return nil }
func (mute) Close() error                               { return nil }

// TestServingABurstAllocatesNothing takes the producer's turns one by one: whatever is allocated in
// one has the daemon collect garbage all the time, and with a large index that takes longer than
// the batches.
func TestServingABurstAllocatesNothing(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 10_000)
	for _, delivery := range []string{Slot, View, Local, Starts} {
		for _, order := range []string{"sequential", "shuffle"} {
			if delivery == View && order == "shuffle" {
				continue
			}
			t.Run(delivery+" "+order, func(t *testing.T) {
				s, detach := w.stream(t,
					request("d", queued(t), with("slots", 4), with("delivery", delivery),
						options("order", order, "batch_size", 32), spec("dtype", "float64")))
				defer detach()
				s.connected(mute{})
				s.pool.begin()
				defer s.pool.end()
				give := func() { // all slots back, and wait for more
					first := queueFirst + s.queue.room*entryWords
					given := s.queue.taken
					for slot, lent := range s.lent {
						if lent {
							s.queue.words[first+given%s.queue.slots] = uint64(slot)
							given++
						}
					}
					atomic.StoreUint64(&s.queue.words[queueRead], s.queue.sent)
					atomic.StoreUint64(&s.queue.words[queueGiven], given)
					s.waits, s.read = true, s.queue.sent
				}
				turn := func() {
					n, err := s.next(true)
					if err == nil {
						err = s.begin(&s.bursts[0], n)
					}
					if err == nil {
						err = s.announce(&s.bursts[0])
					}
					if err == nil && s.waits {
						t.Error("the client was not woken")
					}
					if err != nil {
						t.Fatal(err)
					}
					give()
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
