package feed

import (
	"errors"
	"os"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
)

// burst is some batches that are gathered at once and announced in one message.
type burst struct {
	gathers
	batches []*sampler.Batch
	message []byte
	filled  int
}

func (b *burst) make(slots int) {
	b.batches = make([]*sampler.Batch, slots)
	for i := range b.batches {
		b.batches[i] = &sampler.Batch{}
	}
	b.message = make([]byte, wire.HeaderSize, wire.HeaderSize+(slots+2)*wire.DescriptorSize)
}

// serve keeps the ring full until the client wants no more or is gone. Two bursts take turns: while
// one is gathered the next is begun, so that the workers never wait for a message to be sent. What
// the client sends is read between two bursts, and waited for where there is nothing to do: a
// goroutine that waited for it beside would have its turn only where a worker has no work.
func (s *stream) serve() (err error) {
	var flying *burst
	s.pool.begin()
	defer s.pool.end()
	defer s.rise(&s.pool.turns)
	defer func() {
		if p := recover(); p != nil {
			err = Failed("serve batches", p)
		}
		for i := range s.bursts {
			s.bursts[i].Wait() // whatever happens, no gather outlives the ring
		}
		s.asker.forget()
		// perhaps in the middle of a frame: nothing more can be said
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = nil
		}
	}()
	for turn := 0; ; turn = 1 - turn {
		n, err := s.next(flying == nil)
		if err != nil {
			return err
		}
		if s.done {
			return nil
		}
		var begun *burst
		if n > 0 && (s.delivery != Slot || s.sit(&s.pool.turns, &s.pool.load, flying == nil)) {
			begun = &s.bursts[turn]
			if err := s.begin(begun, n); err != nil {
				return err
			}
		}
		if s.delivery != Slot { // written already
			flying, begun = begun, nil
		}
		if flying != nil {
			if err := s.announce(flying); err != nil || s.done {
				return err
			}
		}
		flying = begun
	}
}

// next says how many batches to fill. Where there is nothing to do it waits, or says 0.
func (s *stream) next(wait bool) (int, error) {
	err := s.hear(false)
	for {
		if why := s.closed.Load(); why != nil {
			return 0, why
		}
		if err != nil || s.done {
			return 0, err
		}
		if err := s.goOn(); err != nil {
			return 0, err
		}
		if err := s.look(); err != nil {
			return 0, err
		}
		growing, full := s.grow()
		if full != nil {
			return 0, full
		}
		if free := len(s.free); free > 0 && s.empty < 2 {
			n := s.burstSize(free)
			if fits, err := s.fits(n); fits || err != nil {
				return s.asker.burst(n), err
			}
		}
		if !wait {
			return 0, nil
		}
		if growing {
			continue
		}
		s.rise(&s.pool.turns)
		s.mu.Lock()
		s.meter.wait()
		s.mu.Unlock()
		err = s.rest()
		s.mu.Lock()
		s.meter.done()
		s.mu.Unlock()
	}
}

// growBytes is how much of the ring is reserved between two bursts.
const growBytes = 1 << 20

// grow adds more of the ring's slots to the free ones once the first batch is away, and tells
// whether it did. Where there is no memory for them the feed ends: a client that counts on its
// slots would keep those that are there and wait for ever.
func (s *stream) grow() (bool, error) {
	if s.batches == 0 || s.reserved == s.slots {
		return false, nil
	}
	to := min(s.slots, s.reserved+max(1, int(growBytes/s.ring.slot)))
	if err := s.ring.reserve(s.reserved, to); err != nil {
		return false, err
	}
	for ; s.reserved < to; s.reserved++ {
		s.free = append(s.free, uint32(s.reserved))
	}
	return true, nil
}

// goOn goes on where the client has asked for.
func (s *stream) goOn() error {
	if s.seek == nil {
		return nil
	}
	seek := *s.seek
	s.mu.Lock()
	s.epoch, s.consumed = seek.Epoch, seek.Consumed
	s.mu.Unlock()
	s.stream, s.seek, s.empty = seek.Stream, nil, 0
	s.asker.forget()
	return s.sampler.Check(s.sampler.Cursor("", "", seek.Epoch, seek.Consumed), "", "")
}

// burstBytes is how much a burst of small batches may hold: what is gathered in about the time that
// a message takes.
const burstBytes = 1 << 18

// burstSize is how many of the free slots to fill before telling the client: as few as keep all
// workers busy, and more where the ring has many slots or batches are small, since each message may
// wake the client.
func (s *stream) burstSize(free int) int {
	if s.batches == 0 {
		return 1 // the first batch, at once
	}
	if s.delivery != Slot {
		return free // places take no time: as few messages as may be
	}
	return min(free, max(s.pool.workers, s.slots/4, int(burstBytes/s.ring.slot)))
}

// begin starts up to n gathers into free slots and writes their descriptors into the burst's
// message. After the last batch of an epoch the next epoch follows.
func (s *stream) begin(b *burst, n int) error {
	b.message, b.filled = b.message[:wire.HeaderSize], 0
	epoch, consumed, windows := s.epoch, s.consumed, int64(0)
	for b.filled < n {
		left := s.sampler.Steps(epoch, consumed)
		if left == 0 { // a seek to an epoch's end, or none of its last windows are this rank's
			b.message = wire.Descriptor{Slot: wire.NoSlot, Stream: s.stream, Flags: wire.FlagLast,
				Epoch: epoch, Consumed: s.sampler.End(epoch, consumed)}.Append(b.message)
			epoch, consumed = epoch+1, 0
			if s.empty++; s.empty == 2 {
				break
			}
			continue
		}
		s.empty = 0
		batch := b.batches[b.filled]
		if err := s.sampler.Batch(batch, epoch, consumed); err != nil {
			return err
		}
		if b.filled == 0 {
			err := s.asker.look(batch, epoch, consumed)
			if err != nil {
				return err
			}
			if s.asker.cold { // who waits for a disk keeps nobody from the workers
				s.rise(&s.pool.turns)
				s.waited, s.hungry = false, false
			}
		}
		if err := s.awaitPages(batch); err != nil {
			return err
		}
		slot := s.take()
		d := wire.Descriptor{Slot: slot, Rows: uint32(len(batch.Windows)), Stream: s.stream,
			Epoch: epoch, Consumed: batch.Next}
		if left == 1 {
			d.Flags, d.Consumed = wire.FlagLast, s.sampler.End(epoch, batch.Next)
		}
		if s.delivery == Slot {
			b.Add(1)
			s.pool.work <- gather{s.filler, s.ring.bytes(slot), batch, &b.gathers}
		} else { // a few integers: sooner written than handed to a worker
			s.fillPlaces(s.ring.bytes(slot), batch, &d)
		}
		b.message = d.Append(b.message)
		consumed = batch.Next
		if left == 1 {
			epoch, consumed = epoch+1, 0
		}
		windows += int64(len(batch.Windows))
		b.filled++
	}
	s.mu.Lock()
	s.epoch, s.consumed = epoch, consumed
	s.batches += int64(b.filled)
	s.served += windows
	s.mu.Unlock()
	return nil
}

// awaitPages has a batch's pages in memory, where they may not be.
func (s *stream) awaitPages(b *sampler.Batch) error {
	if !s.asker.cold {
		return nil
	}
	began := time.Now()
	err := s.asker.next(b)
	s.mu.Lock()
	s.forDisk += time.Since(began)
	s.mu.Unlock()
	return err
}

// announce waits for a burst's gathers and sends its descriptors. A client that reads none of them
// may still say that it is done.
func (s *stream) announce(b *burst) error {
	if err := s.pool.await(&b.gathers); err != nil {
		return err
	}
	if s.queue != nil {
		s.queue.send(b.message[wire.HeaderSize:])
		s.announced()
		return s.rouse()
	}
	wire.PutHeader(b.message, wire.FrameBatches, len(b.message)-wire.HeaderSize)
	for message := b.message; ; {
		if err := s.conn.SetWriteDeadline(time.Now().Add(lastWords)); err != nil {
			return err
		}
		n, err := s.conn.Write(message)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if s.closed.Load() != nil {
			return err
		}
		message = message[n:]
		if err := s.hear(false); err != nil || s.done {
			return err
		}
	}
}

// take lends a free slot to the client.
func (s *stream) take() uint32 {
	slot := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	s.lent[slot] = true
	return slot
}
