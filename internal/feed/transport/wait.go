package transport

import (
	"runtime"
	"time"
)

// maxSleep limits sleeps with a timeout. If a quarter of the slots lasts longer, the daemon blocks
// until the trainer wakes it. That takes the trainer 10 µs, which is little compared with its
// batches.
const maxSleep = time.Millisecond

// sleepMargin is how long before half of the ring is used up a sleep ends, because several credits
// come at once and sleeps end late.
const sleepMargin = 200 * time.Microsecond

// minSleep is how long it takes to fall asleep and to wake up. If a trainer needs less time for a
// quarter of its slots, it does no work on them, and the producer spins until that changes.
const minSleep = 100 * time.Microsecond

// yieldInterval is how often a producer that sleeps calls the Go scheduler. If a goroutine has not
// called it for 10 ms, the scheduler takes its P in its next system call and wakes a thread for it,
// whether or not any other goroutine wants the P.
const yieldInterval = 5 * time.Millisecond

// creditPace is how fast a trainer gives slots back.
type creditPace struct {
	recorded time.Time
	perSlot  time.Duration // between two credits, lately
	yielded  time.Time
}

// record records that so many credits have come. An interval of more than twice the usual is a
// pause, such as an evaluation, and counts as twice.
func (p *creditPace) record(credits int) {
	if credits == 0 {
		return
	}
	now := time.Now()
	each := now.Sub(p.recorded) / time.Duration(credits)
	if p.perSlot == 0 {
		p.perSlot = min(each, maxSleep)
	} else {
		p.perSlot = (3*p.perSlot + min(each, 2*p.perSlot)) / 4
	}
	p.recorded = now
}

// Wait waits until the client may have given credits or sent a frame, and handles both. It spins for
// a fast trainer, sleeps as long as half of the ring lasts for a slower one, and otherwise blocks
// until the client wakes it.
func (c *Conn) Wait() error {
	if err := c.wait(); err != nil || c.done {
		return err
	}
	return c.takeCredits()
}

func (c *Conn) wait() error {
	quarter := c.pace.perSlot * time.Duration(c.slots) / 4
	steady := c.queue != nil && !c.clientAsleep && time.Since(c.pace.recorded) < 8*quarter
	switch {
	case steady && quarter < minSleep:
		for began := time.Now(); c.queue.isEmpty() && time.Since(began) < quarter; {
			c.busy.Yield()
		}
		return c.poll()
	case steady && quarter <= maxSleep && c.busy.HasSpare():
		return c.sleep(max(quarter, 2*quarter-sleepMargin))
	case c.queue == nil:
		return c.block()
	}
	c.queue.setAsleep(true)
	defer c.queue.setAsleep(false)
	if !c.queue.isEmpty() {
		return c.poll()
	}
	return c.block()
}

// block waits until the client sends a frame. The goroutine is not counted as busy meanwhile.
func (c *Conn) block() error {
	c.busy.End()
	defer c.busy.Begin()
	return c.receive(c.socket.Read(c.input[c.received:]))
}

// sleep waits for at most d until the client sends a frame. The goroutine keeps its P, in a system
// call.
func (c *Conn) sleep(d time.Duration) error {
	if now := time.Now(); now.Sub(c.pace.yielded) > yieldInterval {
		runtime.Gosched()
		c.pace.yielded = now
	}
	return c.receive(c.socket.ReadFor(c.input[c.received:], d))
}
