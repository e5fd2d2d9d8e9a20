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

// The maximum time of a case, in ticks. They are counted, because no ticks occur while the process
// is stopped.
const (
	stuckTick     = 100 * time.Millisecond
	maxStuckTicks = 600
)

// killIfStuck ends the process with the stacks of all goroutines if a case takes too long.
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
			case <-tick.C: // missed ticks count as one
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

// processResources are what a process uses.
type processResources struct {
	goroutines  int
	descriptors int64
	heap        uint64
}

// idleWorkerStack matches a worker of fasthttp that has served a connection. It ends after ten
// seconds without another one.
var idleWorkerStack = regexp.MustCompile(
	`\[chan receive[^]]*]:\ngithub\.com/valyala/fasthttp\.\(\*workerPool\)\.workerFunc\(`)

// waitUntilIdle waits for the end of all jobs and connections and drops cached data.
func (a *requestTester) waitUntilIdle() {
	a.reload()
	a.server.events.runners.Wait()
	for a.jobs.Running() > 0 {
		<-a.jobs.Changes()
	}
	a.client.CloseIdleConnections()
}

// resources returns the resources of the idle process.
func (a *requestTester) resources() processResources {
	a.waitUntilIdle()
	return resourcesWhen(func(now, before processResources) bool {
		return now.goroutines == before.goroutines && now.descriptors == before.descriptors
	})
}

// resourcesWhen measures repeatedly until two consecutive measurements are as wanted, because the
// system and the runtime release resources without an event.
func resourcesWhen(is func(now, before processResources) bool) (h processResources) {
	stacks := make([]byte, 4<<20)
	for end := time.Now().Add(testTimeout); ; time.Sleep(requestPoll) {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // the second one empties pools
		runtime.ReadMemStats(&m)
		open, _ := machine.Descriptors()
		all := string(stacks[:runtime.Stack(stacks, true)])
		// syncs of generations, which end by themselves
		syncing := strings.Count(all, "store.(*Store).syncLater.func1(")
		idle := len(idleWorkerStack.FindAllString(all, -1))
		now := processResources{
			strings.Count(all, "\n\ngoroutine ") + 1 - syncing - idle,
			open,
			m.HeapAlloc,
		}
		if is(now, h) || time.Now().After(end) {
			return now
		}
		h = now
	}
}

// checkNoGrowth compares the resources with earlier ones. It waits for resources that are released
// late, such as a file on a slow disk.
func (a *requestTester) checkNoGrowth(t testing.TB, before processResources) {
	t.Helper()
	const someHeap = 4 << 20 // for counters by route and status, and for the runtime
	grown := func(after processResources) bool {
		return after.goroutines > before.goroutines || after.descriptors > before.descriptors ||
			after.heap > before.heap+someHeap
	}
	a.waitUntilIdle()
	after := resourcesWhen(func(now, _ processResources) bool { return !grown(now) })
	if grown(after) {
		stacks := make([]byte, 1<<20)
		t.Errorf("after %d cases the daemon holds %+v, before %+v\n%s", a.coverage.cases, after,
			before, stacks[:runtime.Stack(stacks, true)])
	}
}
