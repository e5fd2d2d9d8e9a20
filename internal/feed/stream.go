package feed

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
)

// stream is one attached trainer. One goroutine (serve) takes its credits and seeks, fills slots
// and announces them; mu guards what others look at.
type stream struct {
	id       string
	pid      int
	client   string
	conn     link
	windows  *Windows
	sampler  *sampler.Sampler
	delivery string
	filler   *filler
	ring     *ring
	pool     *pool
	slots    int
	// of them, whose memory is there: the others are not used yet
	reserved int
	closed   atomic.Pointer[wire.Problem] // why, where it was closed from outside
	goesOn   bool                         // with another daemon
	heir     *stream                      // comes in its place; the server's mu guards it

	mu      sync.Mutex
	batches int64
	served  int64 // windows in them
	meter
	epoch    uint64
	consumed int64

	inbox  []byte // what came from the client, the last frame perhaps in part
	heard  int    // bytes of it
	done   bool   // the client wants no more
	seek   *wire.Seek
	free   []uint32
	lent   []bool
	stream uint32
	bursts [2]burst
	asker  *asker
	empty  int // epochs in a row in which this rank has no batch

	// Where the client asked for a queue.
	queue *queue
	pace
	diner
	napFor time.Duration // how long hear waits at most; 0: until something comes
	waits  bool          // the client sleeps until something is sent
	read   uint64        // that it had not read by then
}

func (s *stream) start(epoch uint64, consumed int64) {
	s.epoch, s.consumed = epoch, consumed
	s.began = time.Now()
	s.inbox = make([]byte, wire.HeaderSize+wire.MaxFrame)
	s.lent = make([]bool, s.slots)
	s.free = make([]uint32, 0, s.slots)
	s.reserved = min(minSlots, s.slots)
	for i := s.reserved - 1; i >= 0; i-- {
		s.free = append(s.free, uint32(i))
	}
	for i := range s.bursts {
		s.bursts[i].make(s.slots)
	}
}

// hear takes in what the client has sent, and where that is nothing waits for something, if it
// shall. There may be more: it reads once, so that a client that never stops sending does not keep
// its feed from being closed. io.EOF is a client that went away.
func (s *stream) hear(wait bool) error {
	var n int
	var err error
	switch {
	case wait && s.napFor > 0:
		n, err = s.conn.Nap(s.inbox[s.heard:], s.napFor)
	case wait:
		n, err = s.conn.Read(s.inbox[s.heard:])
	default:
		n, err = s.conn.TryRead(s.inbox[s.heard:])
	}
	if n == 0 {
		return err
	}
	s.heard += n
	return s.takeIn()
}

// takeIn does what the whole frames in the inbox say.
func (s *stream) takeIn() error {
	rest := s.inbox[:s.heard]
	for len(rest) >= wire.HeaderSize && !s.done {
		kind, length := wire.ParseHeader(rest)
		if length > wire.MaxFrame {
			return fmt.Errorf("%w: a frame of kind %d says %d bytes, at most %d", wire.ErrFrame,
				kind, length, wire.MaxFrame)
		}
		end := wire.HeaderSize + int(length)
		if len(rest) < end {
			break
		}
		if err := s.obey(kind, rest[wire.HeaderSize:end]); err != nil {
			return err
		}
		rest = rest[end:]
	}
	s.heard = copy(s.inbox, rest)
	return nil
}

func (s *stream) obey(kind uint32, payload []byte) error {
	switch kind {
	case wire.FrameCredit:
		return s.credit(payload)
	case wire.FrameSeek:
		seek, err := wire.ParseSeek(payload)
		s.seek = &seek
		return err
	case wire.FrameMeter:
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.report(payload, time.Now())
	case wire.FrameWait:
		return s.waiting(payload)
	case wire.FrameDone:
		s.done = true
		return nil
	}
	return fmt.Errorf("%w: a frame of kind %d in a feed, want credit, seek, meter, wait or done",
		wire.ErrFrame, kind)
}

// credit takes slots back. One that the client does not hold ends the feed: its memory may be in
// use.
func (s *stream) credit(payload []byte) error {
	if len(payload)%4 != 0 {
		return fmt.Errorf("%w: a credit of %d bytes, want a multiple of 4", wire.ErrFrame,
			len(payload))
	}
	for ; len(payload) > 0; payload = payload[4:] {
		if err := s.takeBack(uint64(le32(payload))); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) takeBack(slot uint64) error {
	if slot >= uint64(s.slots) || !s.lent[slot] {
		return fmt.Errorf("%w: a credit for slot %d, which the client does not hold",
			wire.ErrFrame, slot)
	}
	s.lent[slot] = false
	s.free = append(s.free, uint32(slot))
	return nil
}

// describe is the feed as clients see it.
func (s *stream) describe() wire.Feed {
	s.mu.Lock()
	f := wire.Feed{
		Feed: s.id, Dataset: s.windows.handle.Dataset, Generation: s.windows.handle.Generation,
		PID: s.pid, Client: s.client, Delivery: s.delivery, Path: pathOf(s.delivery, s.filler),
		Batches: s.batches, ServedWindows: s.served, Slots: s.slots, SlotBytes: s.ring.slot,
		Epoch: s.epoch, Consumed: s.consumed,
	}
	s.meter.read(&f, time.Now())
	in := s.inPasses()
	s.mu.Unlock()
	f.Verdict = s.verdict(f, in)
	return f
}
