package api

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tensorcache/tensorcache/internal/machine"
)

// The longest that a case may take, in ticks of a clock that stands still with the process, as a stopped one does.
const (
	watchTick    = 100 * time.Millisecond
	watchedTicks = 600
)

// watch ends the process with all its stacks where a case hangs.
func (a *asker) watch(t testing.TB) {
	end, ended := make(chan struct{}), make(chan struct{})
	tick := time.NewTicker(watchTick)
	go func() {
		defer close(ended)
		last, ticks := int64(0), 0
		for {
			select {
			case <-end:
				return
			case <-tick.C: // those that were missed come as one
			}
			if n := a.count.Load(); n%2 == 0 || n != last {
				last, ticks = n, 0
			} else if ticks++; ticks == watchedTicks {
				stacks := make([]byte, 1<<20)
				panic(fmt.Sprintf("a request hangs\n%s", stacks[:runtime.Stack(stacks, true)]))
			}
		}
	}()
	t.Cleanup(func() {
		tick.Stop()
		close(end)
		<-ended
	})
}

// held is what a process holds.
type held struct {
	goroutines  int
	descriptors int64
	heap        uint64
}

// idleWorker is one of fasthttp's that has served, and ends after ten seconds without a connection.
var idleWorker = regexp.MustCompile(`\[chan receive[^]]*]:\ngithub\.com/valyala/fasthttp\.\(\*workerPool\)\.workerFunc\(`)

// holds is what the process holds once nothing is under way and nothing is kept of what was asked.
func (a *asker) holds() held {
	a.fresh()
	a.server.events.runs.Wait()
	for a.jobs.Running() > 0 {
		<-a.jobs.changes()
	}
	a.client.CloseIdleConnections()
	stacks := make([]byte, 4<<20)
	var h held
	for end := time.Now().Add(patience); ; time.Sleep(servingPause) { // what the system and the runtime take away has no event
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // pools are emptied by the second
		runtime.ReadMemStats(&m)
		open, _ := machine.Descriptors()
		all := string(stacks[:runtime.Stack(stacks, true)])
		syncing := strings.Count(all, "store.(*Store).syncLater.func1(") // of what was published; they end by themselves
		idle := len(idleWorker.FindAllString(all, -1))
		now := held{strings.Count(all, "\n\ngoroutine ") + 1 - syncing - idle, open, m.HeapAlloc}
		if now.goroutines == h.goroutines && now.descriptors == h.descriptors || time.Now().After(end) {
			return now
		}
		h = now
	}
}

// noGrowth compares what is held with what was.
func (a *asker) noGrowth(t testing.TB, before, after held) {
	t.Helper()
	const someHeap = 4 << 20 // of counters by route and status, and what the runtime keeps
	if after.goroutines > before.goroutines || after.descriptors > before.descriptors || after.heap > before.heap+someHeap {
		stacks := make([]byte, 1<<20)
		t.Errorf("after %d cases the daemon holds %+v, before %+v\n%s", a.seen.cases, after, before, stacks[:runtime.Stack(stacks, true)])
	}
}
