package feed

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"time"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// mostNap bounds a producer's nap. A trainer that takes a quarter of its slots in less time does
// not wake the daemon, which looks by itself when about as many are free: a wake takes the trainer
// ten microseconds, which batches of a millisecond do not feel.
const mostNap = time.Millisecond

// margin is what must be left of the time that half of the ring lasts: credits come several at once
// and naps end late.
const margin = 200 * time.Microsecond

// leastNap is how long it takes to fall asleep and to wake up. A trainer that takes a quarter of
// its slots in less does nothing with them: the producer stays awake as long as that goes on.
const leastNap = 100 * time.Microsecond

// giveWayEach is how often a producer that naps says to Go's scheduler that it is alive: a
// goroutine that has not for 10 ms is taken its processor in its next system call, and a thread
// woken for it, whether or not anybody else wants it.
const giveWayEach = 5 * time.Millisecond

// pace is how fast a trainer gives slots back, as the producer sees it. It is the producer's own.
type pace struct {
	looked time.Time
	each   time.Duration // between two credits, lately

	gaveWay time.Time
}

// saw takes in that so many credits were there. What took more than twice as long as usual was a
// pause, an evaluation perhaps.
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

// rest waits until there may be something to do: a little for a trainer that is fast, as long as
// half of the ring lasts for one that is not, and else until the trainer says so.
func (s *stream) rest() error {
	quarter := s.each * time.Duration(s.slots) / 4
	steady := s.queue != nil && !s.waits && time.Since(s.looked) < 8*quarter
	switch {
	case steady && quarter < leastNap:
		for began := time.Now(); s.queue.idle() && time.Since(began) < quarter; {
			s.pool.yield()
		}
		return s.hear(false)
	case steady && quarter <= mostNap && s.pool.spare():
		return s.nap(max(quarter, 2*quarter-margin))
	case s.queue == nil:
		return s.park()
	}
	s.queue.asleep(true)
	defer s.queue.asleep(false)
	if !s.queue.idle() {
		return s.hear(false)
	}
	return s.park()
}

// park waits until the client sends something.
func (s *stream) park() error {
	s.pool.end()
	defer s.pool.begin()
	return s.hear(true)
}

// nap waits for d at most. It keeps its processor meanwhile, in a system call.
func (s *stream) nap(d time.Duration) error {
	if now := time.Now(); now.Sub(s.gaveWay) > giveWayEach {
		runtime.Gosched()
		s.gaveWay = now
	}
	s.napFor = d
	err := s.hear(true)
	s.napFor = 0
	return err
}

// look takes the credits of the queue, and wakes a client that sleeps though there is something for
// it.
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
		return fmt.Errorf("%w: a wait of %d bytes, want %d, in a feed with a queue", wire.ErrFrame,
			len(payload), wire.WaitSize)
	}
	s.waits, s.waited, s.read = true, true, binary.LittleEndian.Uint64(payload)
	return nil
}

// rouse wakes a client that sleeps though there is something for it.
func (s *stream) rouse() error {
	if !s.waits || s.queue.sent == s.read {
		return nil
	}
	s.waits = false
	if err := s.conn.SetWriteDeadline(time.Now().Add(lastWords)); err != nil {
		return err
	}
	_, err := s.conn.Write(wakeUp)
	return err
}

// wakeUp is a frame of batches without any: there are some in the queue.
var wakeUp = func() []byte {
	frame := make([]byte, wire.HeaderSize)
	wire.PutHeader(frame, wire.FrameBatches, 0)
	return frame
}()

// fits tells whether the client has room for so many batches more.
func (s *stream) fits(n int) (bool, error) {
	if s.queue == nil {
		return true, nil
	}
	return s.queue.fits(n)
}
