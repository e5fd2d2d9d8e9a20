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
	"github.com/tensorcache/tensorcache/internal/testwait"
	"github.com/tensorcache/tensorcache/internal/wire"
)

func TestAKilledTrainersFeedEndsAlthoughItsChildHasTheSocket(t *testing.T) {
	if portable.Forced() {
		t.Skip("without a pidfd only end-of-file tells of death")
	}
	for _, what := range []string{"feed", "open", "put"} {
		t.Run(what, func(t *testing.T) {
			env := newTestEnv(t, largeBudget)
			env.publishSeries(t, "d", 1000)
			p := startTrainer(t, env.path, what)
			defer p.child.Close()
			testwait.Until(t, "served", func() bool { return env.server.Connections() == 1 })
			if what == "feed" {
				if f := env.server.Feeds(); len(f) != 1 || f[0].PID != p.Process.Pid {
					t.Fatalf("feeds %+v, want one of process %d", f, p.Process.Pid)
				}
			}
			p.kill(t)
			// Only the watch of the process can end the feed: the child still has the socket.
			testwait.Until(t, "freed", func() bool { return env.server.Connections() == 0 })
			env.checkEmpty(t)
		})
	}
}

func TestATrainerThatReadsNothingDoesNotDelayOthers(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 100_000)
	lazy := env.attach(t, request("d", with("slots", 3)))
	defer lazy.close()
	// Every seek to the end of an epoch is answered without a slot, so the answers fill the socket.
	for i := range 40_000 {
		lazy.stream++
		if err := lazy.sendWithin(20*time.Millisecond, wire.FrameSeek,
			wire.Seek{Stream: uint32(i + 1), Epoch: 1, Consumed: 99_995}.Append(nil)); err != nil {
			break
		}
	}
	busy := env.attach(t, request("d"))
	for range 1000 {
		busy.credit(t, busy.batch(t).Slot)
	}
	busy.close()
	lazy.conn.CloseWrite() // ends its feed, but still reads nothing
	testwait.Until(t, "freed", func() bool { return len(env.server.Feeds()) == 0 })
}

func TestIncompleteRequestsDoNotDelayClose(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	silent := must(dial(env.path))(t)
	defer silent.conn.Close()
	half := must(dial(env.path))(t)
	defer half.conn.Close()
	if _, err := half.conn.Write(append(uint32Bytes(100, wire.FrameRequest), "{"...)); err != nil {
		t.Fatal(err)
	}
	testwait.Until(t, "accepted", func() bool { return env.server.Connections() == 2 })
	env.stop()
	for _, c := range []client{silent, half} {
		if _, _, _, err := c.receive(); !errors.Is(err, io.EOF) &&
			!errors.Is(err, unix.ECONNRESET) {
			t.Errorf("got %v, want the end", err)
		}
	}
}

func TestCloseUnderLoadEndsEveryFeed(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 10_000)
	var all sync.WaitGroup
	for range 4 {
		tr := env.attach(t,
			request("d", with("options", map[string]any{"batch_size": 64, "order": "shuffle"})))
		all.Go(func() {
			defer tr.close()
			for {
				d, err := tr.next()
				if err == nil {
					err = tr.send(wire.FrameCredit, uint32Bytes(d.Slot))
				}
				if err != nil {
					return
				}
			}
		})
	}
	testwait.Until(t, "under load", func() bool {
		for _, f := range env.server.Feeds() {
			if f.Batches < 50 {
				return false
			}
		}
		return true
	})
	env.stop()
	all.Wait()
}

// heap returns the bytes of live objects.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestAFeedContinuesWhenItsDatasetIsRemovedOrReplaced(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, env *testEnv){
		"removed": func(t *testing.T, env *testEnv) {
			if _, err := env.store.Remove("d"); err != nil {
				t.Fatal(err)
			}
		},
		"replaced": func(t *testing.T, env *testEnv) { env.publishSeries(t, "d", 50) },
		"replaced and removed": func(t *testing.T, env *testEnv) {
			env.publishSeries(t, "d", 50)
			must(
				env.store.Remove("d"))(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			env := newTestEnv(t, largeBudget)
			env.publishSeries(t, "d", 1005)
			tr := env.attach(t, request("d", with("slots", 3)))
			defer tr.close()
			tr.credit(t, tr.batch(t).Slot)
			change(t, env)
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
			testwait.Until(t, "freed", func() bool { return len(env.server.Feeds()) == 0 })
		})
	}
}

func TestAPanicEndsOneConnectionOnly(t *testing.T) {
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1000)
	p := env.refuse(t, map[string]any{"protocol": 1, "request": "put", "dataset": panickingDataset})
	if p.Type != wire.Internal || p.Status != 500 ||
		!strings.Contains(p.Detail, "the daemon failed") {
		t.Errorf("got %+v, want an internal problem", p)
	}
	var group workers.Group
	env.server.pool.Gather(&group, nil, nil, nil)
	if err := env.server.pool.Await(&group); err == nil ||
		!strings.Contains(err.Error(), "gather a batch") {
		t.Errorf("got %v, want the panic", err)
	}
	tr := env.attach(t, request("d"))
	defer tr.close()
	for range 100 {
		tr.credit(t, tr.batch(t).Slot)
	}
}
