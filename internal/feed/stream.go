package feed

import (
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
)

// stream is one attached trainer. Its reader goroutine (serve) takes credits and seeks, its producer
// goroutine (produce) fills slots and announces them; mu guards what they share.
type stream struct {
	id      string
	pid     int
	conn    *net.UnixConn
	windows *Windows
	sampler *sampler.Sampler
	filler  *filler
	ring    *ring
	pool    *pool
	slots   int

	wake chan struct{} // a credit, a seek or the end has come

	mu          sync.Mutex
	free        []uint32
	lent        []bool
	seek        *wire.Seek
	ended       bool
	batches     int64
	waitTrainer time.Duration
	epoch       uint64
	consumed    int64

	// The producer's own.
	stream  uint32
	message []byte
	burst   []*sampler.Batch
	gathers gathers
	empty   int // epochs in a row in which this rank has no batch
}

func (s *stream) start(epoch uint64, consumed int64) {
	s.epoch, s.consumed = epoch, consumed
	s.wake = make(chan struct{}, 1)
	s.lent = make([]bool, s.slots)
	s.free = make([]uint32, 0, s.slots)
	for i := s.slots - 1; i >= 0; i-- {
		s.free = append(s.free, uint32(i))
	}
	s.burst = make([]*sampler.Batch, s.slots)
	for i := range s.burst {
		s.burst[i] = &sampler.Batch{}
	}
	s.message = make([]byte, wire.HeaderSize, wire.HeaderSize+(s.slots+2)*wire.DescriptorSize)
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
func (s *stream) receive() error {
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
		case wire.FrameDone:
			return nil
		default:
			err = fmt.Errorf("%w: a frame of kind %d in a feed, want credit, seek or done", wire.ErrFrame, kind)
		}
		if err != nil {
			return err
		}
	}
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

// produce keeps the ring full until the feed ends or the client is gone.
func (s *stream) produce() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("produce batches: %v", p)
		}
	}()
	for {
		n, err := s.next()
		if err != nil {
			return err
		}
		if n < 0 {
			return nil
		}
		if err := s.fill(n); err != nil {
			return err
		}
	}
}

// next waits for something to do and says how many batches to fill, or -1 at the end of the feed.
func (s *stream) next() (int, error) {
	for {
		s.mu.Lock()
		if s.ended {
			s.mu.Unlock()
			return -1, nil
		}
		seek, free := s.seek, len(s.free)
		if seek != nil {
			s.stream, s.epoch, s.consumed, s.seek, s.empty = seek.Stream, seek.Epoch, seek.Consumed, nil, 0
		}
		s.mu.Unlock()
		if seek != nil {
			c := s.sampler.Cursor("", "", seek.Epoch, seek.Consumed)
			if err := s.sampler.Check(c, "", ""); err != nil {
				return 0, err
			}
		}
		if free > 0 && s.empty < 2 {
			return s.burstSize(free), nil
		}
		began := time.Now()
		<-s.wake
		s.mu.Lock()
		s.waitTrainer += time.Since(began)
		s.mu.Unlock()
	}
}

// burstSize is how many of the free slots to fill before telling the client: few while it waits for them, and
// all at once when it has many, since each message may wake it.
func (s *stream) burstSize(free int) int {
	if s.batches == 0 {
		return 1 // the first batch, at once
	}
	return min(free, max(s.pool.workers, s.slots-free))
}

// fill gathers up to n batches into free slots, in parallel, and announces them in one message. After the last batch
// of an epoch the next epoch follows.
func (s *stream) fill(n int) error {
	filled, epoch, consumed, err := s.gather(n)
	if failed := s.gathers.wait(); err == nil { // whatever happens, no gather outlives the ring
		err = failed
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.epoch, s.consumed = epoch, consumed
	s.batches += int64(filled)
	s.mu.Unlock()
	wire.PutHeader(s.message, wire.FrameBatches, len(s.message)-wire.HeaderSize)
	_, err = s.conn.Write(s.message)
	return err
}

// gather starts up to n gathers, writes their descriptors into the message, and says where the stream is then.
func (s *stream) gather(n int) (filled int, epoch uint64, consumed int64, err error) {
	s.message = s.message[:wire.HeaderSize]
	epoch, consumed = s.epoch, s.consumed
	for filled < n {
		left := s.sampler.Steps(epoch, consumed)
		if left == 0 { // a seek to an epoch's end, or none of its last windows are this rank's
			s.message = wire.Descriptor{Slot: wire.NoSlot, Stream: s.stream, Flags: wire.FlagLast, Epoch: epoch, Consumed: s.sampler.End(epoch, consumed)}.Append(s.message)
			epoch, consumed = epoch+1, 0
			if s.empty++; s.empty == 2 {
				break
			}
			continue
		}
		s.empty = 0
		batch := s.burst[filled]
		if err := s.sampler.Batch(batch, epoch, consumed); err != nil {
			return filled, epoch, consumed, err
		}
		slot := s.take()
		d := wire.Descriptor{Slot: slot, Rows: uint32(len(batch.Windows)), Stream: s.stream, Epoch: epoch, Consumed: batch.Next}
		if left == 1 {
			d.Flags, d.Consumed = wire.FlagLast, s.sampler.End(epoch, batch.Next)
		}
		s.message = d.Append(s.message)
		s.gathers.Add(1)
		s.pool.work <- gather{s.filler, s.ring.bytes(slot), batch, &s.gathers}
		consumed = batch.Next
		if left == 1 {
			epoch, consumed = epoch+1, 0
		}
		filled++
	}
	return filled, epoch, consumed, nil
}

// take lends a free slot to the client.
func (s *stream) take() uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	slot := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	s.lent[slot] = true
	return slot
}

// describe is the feed as clients see it.
func (s *stream) describe() wire.Feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return wire.Feed{
		Feed: s.id, Dataset: s.windows.handle.Dataset, Generation: s.windows.handle.Generation, PID: s.pid, Batches: s.batches, Slots: s.slots,
		SlotBytes: s.ring.slot, Epoch: s.epoch, Consumed: s.consumed, WaitTrainerS: s.waitTrainer.Seconds(),
	}
}
