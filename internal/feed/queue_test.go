package feed

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tensorcache/tensorcache/internal/feed/transport"
	"github.com/tensorcache/tensorcache/internal/testwait"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// readQueue reads all descriptors of the queue. If there are none, it sends WAIT and returns false.
func (t *trainer) readQueue() bool {
	sent := atomic.LoadUint64(&t.words[wire.QueueSent])
	if sent == t.seen {
		_ = t.send(wire.FrameWait, uint64Bytes(t.seen)) // after an error the reason can be read
		return false
	}
	for ; t.seen != sent; t.seen++ {
		at := wire.QueueFirst + t.seen%uint64(t.Queue.Descriptors)*descriptorWords
		t.pending = append(t.pending,
			wire.ParseDescriptor(uint64Bytes(t.words[at:at+descriptorWords]...)))
	}
	atomic.StoreUint64(&t.words[wire.QueueRead], t.seen)
	return true
}

// giveCredits puts credits into the queue.
func (t *trainer) giveCredits(slots ...uint32) {
	first := wire.QueueFirst + uint64(t.Queue.Descriptors)*descriptorWords
	for _, slot := range slots {
		atomic.StoreUint64(&t.words[first+t.given%uint64(t.Slots)], uint64(slot))
		t.given++
	}
	atomic.StoreUint64(&t.words[wire.QueueGiven], t.given)
}

func uint64Bytes(values ...uint64) (b []byte) {
	for _, v := range values {
		b = append(b, uint32Bytes(uint32(v), uint32(v>>32))...)
	}
	return b
}

func withQueue(t *testing.T) func(map[string]any) {
	if !transport.HasQueues() {
		t.Skip("no queues here")
	}
	return with("queue", true)
}

// TestTheQueueWrapsAround serves more batches than fit into the queue, in bursts of any size.
func TestTheQueueWrapsAround(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 7) // 2 windows
	tr := env.attach(t, request("d", withQueue(t), with("slots", 3), options("batch_size", 1)))
	defer tr.close()
	for i := range 300 {
		ds := tr.take(t, 1+i%3)
		for _, d := range ds {
			if want := tr.starts(d)[0]; want != (d.Consumed-1)%2 {
				t.Fatalf("%+v begins with window %d", d, want)
			}
			tr.credit(t, d.Slot)
		}
	}
}

// TestUnreadSeeksDoNotFillTheQueue seeks to an epoch in which this rank has no batch. Each answer
// is two descriptors without a slot.
func TestUnreadSeeksDoNotFillTheQueue(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 7) // 2 windows for 3 ranks
	tr := env.attach(t,
		request("d", withQueue(t), with("slots", 3),
			with("options", map[string]any{"batch_size": 1, "num_replicas": 3, "rank": 2,
				"tail": "short"})))
	defer tr.close()
	sent, capacity := func() uint64 { return atomic.LoadUint64(&tr.words[wire.QueueSent]) },
		uint64(tr.Queue.Descriptors)
	testwait.Until(t, "told", func() bool { return sent() == 2 })
	for i := range uint64(60) {
		before := sent()
		tr.seek(t, 2*i, 0)
		if before+4 <= capacity { // else the queue stays as it is
			testwait.Until(t, "answered", func() bool { return sent() == before+2 })
		}
	}
	if n := sent(); n > capacity {
		t.Fatalf("%d descriptors were sent into a queue of %d, none was read", n, capacity)
	}
	if d := tr.batch(t); d.Epoch != 118 {
		t.Errorf("got %+v, want the batch at the last seek", d)
	}
}

func TestInvalidQueueWordsEndOnlyTheirFeed(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1000)
	other := env.attach(t, request("d", withQueue(t), with("slots", 5)))
	defer other.close()
	for name, test := range map[string]struct {
		forge func(tr *trainer)
		says  string
	}{
		"a slot twice": {func(tr *trainer) { s := tr.batch(t).Slot; tr.giveCredits(s, s) },
			"which the client does not hold"},
		"a slot out of range": {func(tr *trainer) { tr.giveCredits(64) }, "credit for slot 64"},
		"no slot": {func(tr *trainer) { tr.giveCredits(wire.NoSlot) },
			"credit for slot 4294967295"},
		"too many": {func(tr *trainer) { atomic.StoreUint64(&tr.words[wire.QueueGiven], 9) },
			"9 credits given, 0 taken, for 8 slots"},
		"fewer than before": {func(tr *trainer) {
			atomic.StoreUint64(&tr.words[wire.QueueGiven],
				1<<64-1)
		}, "0 taken, for 8 slots"},
		"read what was not sent": {func(tr *trainer) {
			s := tr.batch(t).Slot
			atomic.StoreUint64(&tr.words[wire.QueueRead], 1000)
			tr.giveCredits(s)
		}, "1000 descriptors read of 8 that were sent"},
		"a wait of odd length": {func(tr *trainer) {
			sendsFrame(wire.FrameWait, make([]byte, 7))(t,
				tr)
		}, "wait of 7 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := env.attach(t, request("d", withQueue(t), with("slots", 8)))
			defer tr.close()
			testwait.Until(t, "filled",
				func() bool { return atomic.LoadUint64(&tr.words[wire.QueueSent]) == 8 })
			test.forge(tr)
			_ = tr.send(wire.FrameCredit, nil)
			p := problemIn(t, tr.ended())
			if p.Type != wire.ProtocolError || p.Status != 400 ||
				!strings.Contains(p.Detail, test.says) {
				t.Errorf("got %s: %s\nwant protocol_error with %q", p.Type, p.Detail, test.says)
			}
			other.credit(t, other.batch(t).Slot)
		})
	}
	testwait.Until(t, "one feed left", func() bool { return len(env.server.Feeds()) == 1 })
}

// TestAWaitFrameWakesTheDaemon gives credits without a CREDIT frame, and then waits.
func TestAWaitFrameWakesTheDaemon(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1000)
	tr := env.attach(t, request("d", withQueue(t), with("slots", 4)))
	defer tr.close()
	for range 20 {
		for _, d := range tr.take(t, 4) {
			tr.giveCredits(d.Slot)
		}
		testwait.Until(t, "asleep or done", func() bool {
			return atomic.LoadUint64(&tr.words[wire.QueueAsleep]) == 1 ||
				atomic.LoadUint64(&tr.words[wire.QueueSent]) > tr.seen
		})
	}
}

func TestAWaitWithoutAQueueIsRefused(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1000)
	tr := env.attach(t, request("d"))
	defer tr.close()
	sendsFrame(wire.FrameWait, make([]byte, 8))(t, tr)
	var p *wire.Problem
	if err := tr.ended(); !errors.As(err, &p) ||
		!strings.Contains(p.Detail, "in a feed with a queue") {
		t.Errorf("got %v, want a protocol error", err)
	}
}
