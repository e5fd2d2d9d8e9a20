package feed

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/feed/workers"
	"github.com/tensorcache/tensorcache/internal/portable"
	"github.com/tensorcache/tensorcache/internal/wire"
)

func TestAKilledTrainersFeedEndsThoughItsChildHoldsTheSocket(t *testing.T) {
	if portable.Forced() {
		t.Skip("without a pidfd only end-of-file tells of death")
	}
	for _, what := range []string{"feed", "open", "put"} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t, roomy)
			w.series(t, "d", 1000)
			p := startTrainer(t, w.path, what)
			defer p.child.Close()
			until(t, "served", func() bool { return w.server.Connections() == 1 })
			if what == "feed" {
				if f := w.server.Feeds(); len(f) != 1 || f[0].PID != p.Process.Pid {
					t.Fatalf("feeds %+v, want one of process %d", f, p.Process.Pid)
				}
			}
			p.kill(t)
			// nothing else would: the child stays
			until(t, "freed", func() bool { return w.server.Connections() == 0 })
			w.checkEmpty(t)
		})
	}
}

func TestATrainerThatReadsNothingHurtsNobodyElse(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 100_000)
	lazy := w.attach(t, request("d", with("slots", 3)))
	defer lazy.close()
	// Every seek to the end of an epoch is answered without a slot, so its answers fill the socket.
	for i := range 40_000 {
		lazy.stream++
		if err := lazy.sendWithin(20*time.Millisecond, wire.FrameSeek,
			wire.Seek{Stream: uint32(i + 1), Epoch: 1, Consumed: 99_995}.Append(nil)); err != nil {
			break
		}
	}
	busy := w.attach(t, request("d"))
	for range 1000 {
		busy.credit(t, busy.batch(t).Slot)
	}
	busy.close()
	lazy.conn.CloseWrite() // it ends its feed but still reads nothing
	until(t, "freed", func() bool { return len(w.server.Feeds()) == 0 })
}

func TestHalfARequestAndSilenceHoldUpNoClose(t *testing.T) {
	w := newWorld(t, roomy)
	silent := must(dial(w.path))(t)
	defer silent.conn.Close()
	half := must(dial(w.path))(t)
	defer half.conn.Close()
	if _, err := half.conn.Write(append(le(100, wire.FrameRequest), "{"...)); err != nil {
		t.Fatal(err)
	}
	until(t, "accepted", func() bool { return w.server.Connections() == 2 })
	w.stop()
	for _, c := range []client{silent, half} {
		if _, _, _, err := c.receive(); !errors.Is(err, io.EOF) &&
			!errors.Is(err, unix.ECONNRESET) {
			t.Errorf("got %v, want the end", err)
		}
	}
}

func TestCloseUnderLoadEndsEveryFeed(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 10_000)
	var all sync.WaitGroup
	for range 4 {
		tr := w.attach(t,
			request("d", with("options", map[string]any{"batch_size": 64, "order": "shuffle"})))
		all.Go(func() {
			defer tr.close()
			for {
				d, err := tr.next()
				if err == nil {
					err = tr.send(wire.FrameCredit, le(d.Slot))
				}
				if err != nil {
					return
				}
			}
		})
	}
	until(t, "under load", func() bool {
		for _, f := range w.server.Feeds() {
			if f.Batches < 50 {
				return false
			}
		}
		return true
	})
	w.stop()
	all.Wait()
}

// heap is the bytes of live objects.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestAFeedGoesOnWhenItsDatasetIsRemovedOrReplaced(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, w *world){
		"removed": func(t *testing.T, w *world) {
			if _, err := w.store.Remove("d"); err != nil {
				t.Fatal(err)
			}
		},
		"replaced": func(t *testing.T, w *world) { w.series(t, "d", 50) },
		"replaced and removed": func(t *testing.T, w *world) {
			w.series(t, "d", 50)
			must(
				w.store.Remove("d"))(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, roomy)
			w.series(t, "d", 1005)
			tr := w.attach(t, request("d", with("slots", 3)))
			defer tr.close()
			tr.credit(t, tr.batch(t).Slot)
			change(t, w)
			for i := range 300 {
				d := tr.batch(t)
				start := tr.starts(d)[0]
				if got := tr.read(d.Slot, *tr.part("context"), 0); got[0] != float64(start) ||
					got[1] != -float64(start) {
					t.Fatalf("batch %d: window %d begins with %v", i, start, got[:2])
				}
				tr.credit(t, d.Slot)
			}
			tr.close()
			until(t, "freed", func() bool { return len(w.server.Feeds()) == 0 })
		})
	}
}

func TestAPanicIsOneConnectionsErrorAndNobodyElses(t *testing.T) {
	w := newWorld(t, roomy)
	w.series(t, "d", 1000)
	p := w.refuse(t, map[string]any{"protocol": 1, "request": "put", "dataset": panics})
	if p.Type != wire.Internal || p.Status != 500 ||
		!strings.Contains(p.Detail, "the daemon failed") {
		t.Errorf("got %+v, want an internal problem", p)
	}
	var group workers.Group
	w.server.pool.Gather(&group, nil, nil, nil)
	if err := w.server.pool.Await(&group); err == nil ||
		!strings.Contains(err.Error(), "gather a batch") {
		t.Errorf("got %v, want the panic", err)
	}
	tr := w.attach(t, request("d"))
	defer tr.close()
	for range 100 {
		tr.credit(t, tr.batch(t).Slot)
	}
}
