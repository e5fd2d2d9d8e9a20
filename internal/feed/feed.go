package feed

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/feed/prefetch"
	"github.com/tensorcache/tensorcache/internal/feed/transport"
	"github.com/tensorcache/tensorcache/internal/feed/workers"
	"github.com/tensorcache/tensorcache/internal/plan"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
)

// feed is one attached trainer. One goroutine, the producer (see serve), fills slots, announces
// them and handles what the client sends. mu guards the fields that other goroutines read.
type feed struct {
	id         string
	pid        int
	client     string
	windows    *plan.Windows
	sampler    *sampler.Sampler
	delivery   string
	filler     *batch.Filler
	ring       *ring
	pool       *workers.Pool
	slots      int
	queue      []byte // memory of the queue in the ring; nil without one
	reconnects bool   // the client can continue with another daemon

	closed    atomic.Pointer[wire.Problem] // why it was closed from outside; nil if it was not
	successor *feed                        // replaces it; the server's mu guards it

	mu       sync.Mutex
	conn     *transport.Conn
	batches  int64
	served   int64 // windows in them
	epoch    uint64
	consumed int64
	meter

	// These fields belong to the goroutine of the producer.
	seek         *wire.Seek // the latest one, if it was not applied yet
	reserved     int        // slots whose memory is reserved: the others are not used yet
	free         []uint32
	clientOwns   []bool // by slot: it belongs to the client
	streamNumber uint32 // stream number of the latest seek, which every descriptor contains
	bursts       [2]burst
	prefetcher   *prefetch.Prefetcher
	turn         workers.Turn
	empty        int // epochs in a row in which this rank has no batch
}

// start prepares the feed to begin at a cursor.
func (s *feed) start(epoch uint64, consumed int64) {
	s.epoch, s.consumed = epoch, consumed
	s.began = time.Now()
	s.clientOwns = make([]bool, s.slots)
	s.free = make([]uint32, 0, s.slots)
	s.reserved = min(minSlots, s.slots)
	for i := s.reserved - 1; i >= 0; i-- {
		s.free = append(s.free, uint32(i))
	}
	for i := range s.bursts {
		s.bursts[i].make(s.slots)
	}
}

// Seek makes the producer continue at another cursor before its next burst.
func (s *feed) Seek(seek wire.Seek) { s.seek = &seek }

// Meter records the waiting times that the client reports.
func (s *feed) Meter(payload []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.report(payload, time.Now())
}

// describe returns the feed as clients see it.
func (s *feed) describe() wire.Feed {
	s.mu.Lock()
	f := wire.Feed{
		Feed: s.id, Dataset: s.windows.Handle.Dataset, Generation: s.windows.Handle.Generation,
		PID: s.pid, Client: s.client, Delivery: s.delivery, Path: s.filler.Path(s.delivery),
		Batches: s.batches, ServedWindows: s.served, Slots: s.slots, SlotBytes: s.ring.slotBytes,
		Epoch: s.epoch, Consumed: s.consumed,
	}
	s.meter.fillIn(&f, time.Now())
	in := s.inPasses()
	s.mu.Unlock()
	f.Verdict = s.verdict(f, in)
	return f
}
