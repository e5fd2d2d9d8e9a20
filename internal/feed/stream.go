package feed

import (
	"fmt"
	"sync"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
)

// stream is one attached trainer. Its reader goroutine (serve) takes credits and seeks, its producer
// goroutine (produce) fills slots and announces them; mu guards what they share.
type stream struct {
	id       string
	pid      int
	conn     link
	windows  *Windows
	sampler  *sampler.Sampler
	delivery string
	filler   *filler
	ring     *ring
	pool     *pool
	slots    int

	wake chan struct{} // a credit, a seek or the end has come

	mu      sync.Mutex
	free    []uint32
	lent    []bool
	seek    *wire.Seek
	ended   bool
	closed  *wire.Problem // why, where it was closed from outside
	batches int64
	meter
	epoch    uint64
	consumed int64

	// The producer's own.
	stream uint32
	bursts [2]burst
	asker  *asker
	empty  int // epochs in a row in which this rank has no batch
}

func (s *stream) start(epoch uint64, consumed int64) {
	s.epoch, s.consumed = epoch, consumed
	s.began = time.Now()
	s.wake = make(chan struct{}, 1)
	s.lent = make([]bool, s.slots)
	s.free = make([]uint32, 0, s.slots)
	for i := s.slots - 1; i >= 0; i-- {
		s.free = append(s.free, uint32(i))
	}
	for i := range s.bursts {
		s.bursts[i].make(s.slots)
	}
}

// notify wakes the producer.
func (s *stream) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// end tells the producer to leave.
func (s *stream) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.notify()
}

// receive takes frames from the client until the feed ends. io.EOF is a client that went away.
func (s *stream) receive() (err error) {
	defer func() {
		if p := recover(); p != nil { // the producer must be ended before the ring goes
			err = fmt.Errorf("receive credits: %v", p)
		}
	}()
	scratch := make([]byte, wire.MaxFrame)
	for {
		kind, length, err := wire.ReadHeader(s.conn, scratch, wire.MaxFrame)
		if err != nil {
			return err
		}
		payload := scratch[:length]
		if err := readFull(s.conn, payload); err != nil {
			return err
		}
		switch kind {
		case wire.FrameCredit:
			err = s.credit(payload)
		case wire.FrameSeek:
			err = s.seekTo(payload)
		case wire.FrameMeter:
			err = s.metered(payload)
		case wire.FrameDone:
			return nil
		default:
			err = fmt.Errorf("%w: a frame of kind %d in a feed, want credit, seek, meter or done", wire.ErrFrame, kind)
		}
		if err != nil {
			return err
		}
	}
}

// metered takes in what the client says of its waiting.
func (s *stream) metered(payload []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.report(payload)
}

// credit takes slots back. One that the client does not hold ends the feed: its memory may be in use.
func (s *stream) credit(payload []byte) error {
	if len(payload)%4 != 0 {
		return fmt.Errorf("%w: a credit of %d bytes, want a multiple of 4", wire.ErrFrame, len(payload))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for ; len(payload) > 0; payload = payload[4:] {
		slot := le32(payload)
		if int64(slot) >= int64(s.slots) || !s.lent[slot] {
			return fmt.Errorf("%w: a credit for slot %d, which the client does not hold", wire.ErrFrame, slot)
		}
		s.lent[slot] = false
		s.free = append(s.free, slot)
	}
	s.notify()
	return nil
}

func (s *stream) seekTo(payload []byte) error {
	seek, err := wire.ParseSeek(payload)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seek = &seek
	s.notify()
	return nil
}

// describe is the feed as clients see it.
func (s *stream) describe() wire.Feed {
	s.mu.Lock()
	f := wire.Feed{
		Feed: s.id, Dataset: s.windows.handle.Dataset, Generation: s.windows.handle.Generation, PID: s.pid, Delivery: s.delivery, Path: pathOf(s.delivery, s.filler),
		Batches: s.batches, Slots: s.slots, SlotBytes: s.ring.slot, Epoch: s.epoch, Consumed: s.consumed,
	}
	s.meter.read(&f, time.Now())
	s.mu.Unlock()
	f.Verdict = s.verdict(f)
	return f
}
