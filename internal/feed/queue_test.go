package feed

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tensorcache/tensorcache/internal/feed/transport"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// taken takes what the queue holds, or tells the daemon that it is waited for and returns false.
func (t *trainer) taken() bool {
	sent := atomic.LoadUint64(&t.words[wire.QueueSent])
	if sent == t.seen {
		_ = t.send(wire.FrameWait, le64(t.seen)) // where it fails there are last words to be read
		return false
	}
	for ; t.seen != sent; t.seen++ {
		at := wire.QueueFirst + t.seen%uint64(t.Queue.Descriptors)*descriptorWords
		t.pending = append(t.pending, wire.ParseDescriptor(le64(t.words[at:at+descriptorWords]...)))
	}
	atomic.StoreUint64(&t.words[wire.QueueRead], t.seen)
	return true
}

// give puts credits into the queue.
func (t *trainer) give(slots ...uint32) {
	first := wire.QueueFirst + uint64(t.Queue.Descriptors)*descriptorWords
	for _, slot := range slots {
		atomic.StoreUint64(&t.words[first+t.given%uint64(t.Slots)], uint64(slot))
		t.given++
	}
	atomic.StoreUint64(&t.words[wire.QueueGiven], t.given)
}

func le64(values ...uint64) (b []byte) {
	for _, v := range values {
		b = append(b, le(uint32(v), uint32(v>>32))...)
	}
	return b
}

func queued(t *testing.T) func(map[string]any) {
	if !transport.HasQueues() {
		t.Skip("no queues here")
	}
	return with("queue", true)
}

// TestAQueueIsReadTillItsEndIsFarBehind serves more batches than the queue has room for, in bursts
// of any size.
func TestAQueueIsReadTillItsEndIsFarBehind(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 7) // 2 windows
	tr := w.attach(t, request("d", queued(t), with("slots", 3), options("batch_size", 1)))
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

// TestSeeksThatNobodyReadsFillNoQueue asks again and again for an epoch of which this rank has
// nothing: each answer is two descriptors without a slot.
func TestSeeksThatNobodyReadsFillNoQueue(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 7) // 2 windows for 3 ranks
	tr := w.attach(t,
		request("d", queued(t), with("slots", 3),
			with("options", map[string]any{"batch_size": 1, "num_replicas": 3, "rank": 2,
				"tail": "short"})))
	defer tr.close()
	sent, room := func() uint64 { return atomic.LoadUint64(&tr.words[wire.QueueSent]) },
		uint64(tr.Queue.Descriptors)
	until(t, "told", func() bool { return sent() == 2 })
	for i := range uint64(60) {
		before := sent()
		tr.seek(t, 2*i, 0)
		if before+4 <= room { // else it stays as it is
			until(t, "answered", func() bool { return sent() == before+2 })
		}
	}
	if n := sent(); n > room {
		t.Fatalf("%d descriptors were sent into room for %d, none was read", n, room)
	}
	if d := tr.batch(t); d.Epoch != 118 {
		t.Errorf("got %+v, want what the last seek asked for", d)
	}
}

func TestAQueueThatIsForgedEndsItsFeedAlone(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 1000)
	other := w.attach(t, request("d", queued(t), with("slots", 5)))
	defer other.close()
	for name, test := range map[string]struct {
		forge func(tr *trainer)
		says  string
	}{
		"a slot twice": {func(tr *trainer) { s := tr.batch(t).Slot; tr.give(s, s) },
			"which the client does not hold"},
		"a slot out of range": {func(tr *trainer) { tr.give(64) }, "credit for slot 64"},
		"no slot": {func(tr *trainer) { tr.give(wire.NoSlot) },
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
			tr.give(s)
		}, "1000 descriptors read of 8 that were sent"},
		"a wait of odd length": {func(tr *trainer) {
			sends(wire.FrameWait, make([]byte, 7))(t,
				tr)
		}, "wait of 7 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := w.attach(t, request("d", queued(t), with("slots", 8)))
			defer tr.close()
			until(t, "filled",
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
	until(t, "one feed left", func() bool { return len(w.server.Feeds()) == 1 })
}

// TestADaemonThatTheTrainerForgetsToWakeIsWokenByItsWait gives credits without a word and then
// waits.
func TestADaemonThatTheTrainerForgetsToWakeIsWokenByItsWait(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 1000)
	tr := w.attach(t, request("d", queued(t), with("slots", 4)))
	defer tr.close()
	for range 20 {
		for _, d := range tr.take(t, 4) {
			tr.give(d.Slot)
		}
		until(t, "asleep or done", func() bool {
			return atomic.LoadUint64(&tr.words[wire.QueueAsleep]) == 1 ||
				atomic.LoadUint64(&tr.words[wire.QueueSent]) > tr.seen
		})
	}
}

func TestAWaitWithoutAQueueIsRefused(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 1000)
	tr := w.attach(t, request("d"))
	defer tr.close()
	sends(wire.FrameWait, make([]byte, 8))(t, tr)
	var p *wire.Problem
	if err := tr.ended(); !errors.As(err, &p) ||
		!strings.Contains(p.Detail, "in a feed with a queue") {
		t.Errorf("got %v, want a protocol error", err)
	}
}
