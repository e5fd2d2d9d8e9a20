package feed

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// mostNap bounds a producer's nap. A trainer that takes a quarter of its slots in less time does not wake the daemon, which looks
// by itself when about as many are free: a wake takes the trainer ten microseconds, which batches of a millisecond do not feel.
const mostNap = time.Millisecond

// leastNap is how long it takes to fall asleep and to wake up. A trainer that takes a quarter of its slots in less does nothing
// with them: the producer stays awake as long as that goes on.
const leastNap = 100 * time.Microsecond

// pace is how fast a trainer gives slots back, as the producer sees it. It is the producer's own.
type pace struct {
	looked time.Time
	each   time.Duration // between two credits, lately
}

// saw takes in that so many credits were there. What took more than twice as long as usual was a pause, an evaluation perhaps.
func (p *pace) saw(credits int) {
	if credits == 0 {
		return
	}
	now := time.Now()
	if each := now.Sub(p.looked) / time.Duration(credits); p.each == 0 {
		p.each = min(each, mostNap)
	} else {
		p.each = (3*p.each + min(each, 2*p.each)) / 4
	}
	p.looked = now
}

// nap is how long to leave the trainer alone; 0: it shall say when there is something to do.
func (p *pace) nap(slots int) time.Duration {
	d := p.each * time.Duration(slots) / 4
	if d > mostNap || time.Since(p.looked) > 8*d {
		return 0
	}
	return d
}

// look takes the credits of the queue, and wakes a client that sleeps though there is something for it.
func (s *stream) look() error {
	if s.queue == nil {
		return nil
	}
	n, err := s.queue.credits(s.takeBack)
	if err != nil {
		return err
	}
	s.saw(n)
	return s.rouse()
}

// waiting takes in that the client sleeps until more was sent than it has read.
func (s *stream) waiting(payload []byte) error {
	if len(payload) != wire.WaitSize || s.queue == nil {
		return fmt.Errorf("%w: a wait of %d bytes, want %d, in a feed with a queue", wire.ErrFrame, len(payload), wire.WaitSize)
	}
	s.waits, s.read = true, binary.LittleEndian.Uint64(payload)
	return nil
}

// rouse wakes a client that sleeps though there is something for it.
func (s *stream) rouse() error {
	if !s.waits || s.queue.sent == s.read {
		return nil
	}
	s.waits = false
	var frame [wire.HeaderSize]byte
	wire.PutHeader(frame[:], wire.FrameBatches, 0)
	if err := s.conn.SetWriteDeadline(time.Now().Add(lastWords)); err != nil {
		return err
	}
	_, err := s.conn.Write(frame[:])
	return err
}

// fits tells whether the client has room for so many batches more.
func (s *stream) fits(n int) (bool, error) {
	if s.queue == nil {
		return true, nil
	}
	return s.queue.fits(n)
}

// rest waits until there may be something to do.
func (s *stream) rest() error {
	if s.queue == nil {
		return s.hear(true)
	}
	if nap := s.nap(s.slots); nap > 0 && !s.waits {
		if nap >= leastNap {
			s.napFor = nap
			err := s.hear(true)
			s.napFor = 0
			return err
		}
		for began := time.Now(); s.queue.idle() && time.Since(began) < nap; {
			runtime.Gosched()
		}
		return s.hear(false)
	}
	s.queue.asleep(true)
	defer s.queue.asleep(false)
	return s.hear(s.queue.idle())
}
