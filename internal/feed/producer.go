package feed

import (
	"errors"
	"os"
	"time"

	"github.com/tensorcache/tensorcache/internal/batch"
	"github.com/tensorcache/tensorcache/internal/feed/workers"
	"github.com/tensorcache/tensorcache/internal/mmapfile"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/sampler"
)

// burst is some batches that are gathered at the same time and announced in one message.
type burst struct {
	workers.Group
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

// serve keeps the ring full until the client ends the feed or the connection. It alternates between
// two bursts: while one is gathered it begins the next, so that the workers never wait for a
// message to be sent. Between two bursts it handles what the client has sent, and it waits for the
// client only if there is nothing to do. A second goroutine would run only when a worker has no
// work.
func (s *feed) serve() (err error) {
	var gathering *burst
	s.pool.Begin()
	defer s.pool.End()
	defer s.turn.Release()
	defer func() {
		if p := recover(); p != nil {
			err = mmapfile.PanicError("serve batches", p)
		}
		for i := range s.bursts {
			s.bursts[i].Wait() // no gather may outlive the ring
		}
		s.prefetcher.Stop()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			// it may have happened in the middle of a frame, after which no error can be sent
			err = nil
		}
	}()
	for i := 0; ; i = 1 - i {
		n, err := s.next(gathering == nil)
		if err != nil {
			return err
		}
		if s.conn.Done() {
			return nil
		}
		var begun *burst
		if n > 0 && (s.delivery != batch.Slot || s.turn.Acquire(gathering == nil)) {
			begun = &s.bursts[i]
			if err := s.begin(begun, n); err != nil {
				return err
			}
		}
		if s.delivery != batch.Slot { // places are written already
			gathering, begun = begun, nil
		}
		if gathering != nil {
			if err := s.announce(gathering); err != nil || s.conn.Done() {
				return err
			}
		}
		gathering = begun
	}
}

// next returns how many batches to fill. If there is nothing to do, it waits if wait is set, and
// else returns 0.
func (s *feed) next(wait bool) (int, error) {
	err := s.conn.Credits()
	for {
		if why := s.closed.Load(); why != nil {
			return 0, why
		}
		if err != nil || s.conn.Done() {
			return 0, err
		}
		if err := s.applySeek(); err != nil {
			return 0, err
		}
		growing, full := s.grow()
		if full != nil {
			return 0, full
		}
		if free := len(s.free); free > 0 && s.empty < 2 {
			n := s.burstSize(free)
			if fits, err := s.conn.CanSend(n); fits || err != nil {
				return s.prefetcher.BurstSize(n), err
			}
		}
		if !wait {
			return 0, nil
		}
		if growing {
			continue
		}
		s.turn.Release()
		s.mu.Lock()
		s.meter.wait()
		s.mu.Unlock()
		err = s.conn.Wait()
		s.mu.Lock()
		s.meter.done()
		s.mu.Unlock()
	}
}

// applySeek continues at the cursor of the client's latest seek, if there is one.
func (s *feed) applySeek() error {
	if s.seek == nil {
		return nil
	}
	seek := *s.seek
	s.mu.Lock()
	s.epoch, s.consumed = seek.Epoch, seek.Consumed
	s.mu.Unlock()
	s.streamNumber, s.seek, s.empty = seek.Stream, nil, 0
	s.prefetcher.Stop()
	return s.sampler.Check(s.sampler.Cursor("", "", seek.Epoch, seek.Consumed), "", "")
}

// burstBytes is the size of a burst of small batches: about what is gathered in the time to send a
// message.
const burstBytes = 1 << 18

// burstSize returns how many of the free slots to fill before the client is told: as few as keep
// all workers busy, and more if the ring has many slots or batches are small, since each message
// may wake the client.
func (s *feed) burstSize(free int) int {
	if s.batches == 0 {
		return 1 // the first batch, at once
	}
	if s.delivery != batch.Slot {
		return free // places take no time: as few messages as possible
	}
	return min(free, max(s.pool.Size(), s.slots/4, int(burstBytes/s.ring.slotBytes)))
}

// begin starts up to n gathers into free slots and writes their descriptors into the burst's
// message. After the last batch of an epoch the next epoch follows.
func (s *feed) begin(b *burst, n int) error {
	b.message, b.filled = b.message[:wire.HeaderSize], 0
	epoch, consumed, windows := s.epoch, s.consumed, int64(0)
	for b.filled < n {
		left := s.sampler.Steps(epoch, consumed)
		if left == 0 { // a seek to the end of an epoch, or this rank has no batch in the last step
			b.message = wire.Descriptor{Slot: wire.NoSlot, Stream: s.streamNumber,
				Flags: wire.FlagLast, Epoch: epoch,
				Consumed: s.sampler.End(epoch, consumed)}.Append(b.message)
			epoch, consumed = epoch+1, 0
			if s.empty++; s.empty == 2 {
				break
			}
			continue
		}
		s.empty = 0
		drawn := b.batches[b.filled]
		if err := s.sampler.Batch(drawn, epoch, consumed); err != nil {
			return err
		}
		if b.filled == 0 {
			s.prefetcher.Check(drawn, epoch, consumed)
			if s.prefetcher.IsCold() { // others may use the workers while it waits for a disk
				s.turn.NotStarved()
				s.conn.TakeWaited()
			}
		}
		if err := s.awaitPages(drawn); err != nil {
			return err
		}
		slot := s.takeSlot()
		d := wire.Descriptor{Slot: slot, Rows: uint32(len(drawn.Windows)), Stream: s.streamNumber,
			Epoch: epoch, Consumed: drawn.Next}
		if left == 1 {
			d.Flags, d.Consumed = wire.FlagLast, s.sampler.End(epoch, drawn.Next)
		}
		if s.delivery == batch.Slot {
			s.pool.Gather(&b.Group, s.filler, s.ring.slot(slot), drawn)
		} else { // a few integers take less time than to hand the batch to a worker
			s.filler.FillPlaces(s.ring.slot(slot), drawn, s.delivery == batch.View, &d)
		}
		b.message = d.Append(b.message)
		consumed = drawn.Next
		if left == 1 {
			epoch, consumed = epoch+1, 0
		}
		windows += int64(len(drawn.Windows))
		b.filled++
	}
	s.mu.Lock()
	s.epoch, s.consumed = epoch, consumed
	s.batches += int64(b.filled)
	s.served += windows
	s.mu.Unlock()
	return nil
}

// awaitPages waits until the pages of a batch are in memory, if the data is cold.
func (s *feed) awaitPages(b *sampler.Batch) error {
	if !s.prefetcher.IsCold() {
		return nil
	}
	began := time.Now()
	err := s.prefetcher.Await(b)
	s.mu.Lock()
	s.forDisk += time.Since(began)
	s.mu.Unlock()
	return err
}

// announce waits for a burst's gathers and sends its descriptors.
func (s *feed) announce(b *burst) error {
	if err := s.pool.Await(&b.Group); err != nil {
		return err
	}
	err := s.conn.Send(b.message)
	s.turn.Announced(s.conn.TakeWaited())
	return err
}
