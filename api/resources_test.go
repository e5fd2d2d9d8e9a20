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

// The longest that a case may take, in ticks of a clock that stands still with the process, as a
// stopped one does.
const (
	stuckTick     = 100 * time.Millisecond
	maxStuckTicks = 600
)

// watch ends the process with all its stacks where a case hangs.
func (a *requestTester) killIfStuck(t testing.TB) {
	end, ended := make(chan struct{}), make(chan struct{})
	tick := time.NewTicker(stuckTick)
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
			} else if ticks++; ticks == maxStuckTicks {
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
type processResources struct {
	goroutines  int
	descriptors int64
	heap        uint64
}

// idleWorker is one of fasthttp's that has served, and ends after ten seconds without a connection.
var idleWorkerStack = regexp.MustCompile(
	`\[chan receive[^]]*]:\ngithub\.com/valyala/fasthttp\.\(\*workerPool\)\.workerFunc\(`)

// settle has nothing under way and nothing kept of what was asked.
func (a *requestTester) waitUntilIdle() {
	a.reload()
	a.server.events.runners.Wait()
	for a.jobs.Running() > 0 {
		<-a.jobs.Changes()
	}
	a.client.CloseIdleConnections()
}

// holds is what the process holds once nothing is under way.
func (a *requestTester) resources() processResources {
	a.waitUntilIdle()
	return resourcesWhen(func(now, before processResources) bool {
		return now.goroutines == before.goroutines && now.descriptors == before.descriptors
	})
}

// heldOnce is what the process holds, once that is as it should be compared with what it held a
// moment before: what the system and the runtime take away has no event.
func resourcesWhen(is func(now, before processResources) bool) (h processResources) {
	stacks := make([]byte, 4<<20)
	for end := time.Now().Add(testTimeout); ; time.Sleep(requestPoll) {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // pools are emptied by the second
		runtime.ReadMemStats(&m)
		open, _ := machine.Descriptors()
		all := string(stacks[:runtime.Stack(stacks, true)])
		// of what was published; they end by themselves
		syncing := strings.Count(all, "store.(*Store).syncLater.func1(")
		idle := len(idleWorkerStack.FindAllString(all, -1))
		now := processResources{strings.Count(all, "\n\ngoroutine ") + 1 - syncing - idle, open, m.HeapAlloc}
		if is(now, h) || time.Now().After(end) {
			return now
		}
		h = now
	}
}

// noGrowth compares what is held with what was. What is only late to leave, as a file that a slow
// disk closes, is waited for.
func (a *requestTester) checkNoGrowth(t testing.TB, before processResources) {
	t.Helper()
	const someHeap = 4 << 20 // of counters by route and status, and what the runtime keeps
	grown := func(after processResources) bool {
		return after.goroutines > before.goroutines || after.descriptors > before.descriptors ||
			after.heap > before.heap+someHeap
	}
	a.waitUntilIdle()
	after := resourcesWhen(func(now, _ processResources) bool { return !grown(now) })
	if grown(after) {
		stacks := make([]byte, 1<<20)
		t.Errorf("after %d cases the daemon holds %+v, before %+v\n%s", a.coverage.cases, after, before,
			stacks[:runtime.Stack(stacks, true)])
	}
}
