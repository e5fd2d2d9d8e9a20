package feed

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// resources are what attaching must give back.
type resources struct{ descriptors, maps, goroutines int }

func have(t *testing.T) resources {
	t.Helper()
	maps := must(os.ReadFile("/proc/self/maps"))(t)
	return resources{len(must(os.ReadDir("/proc/self/fd"))(t)),
		strings.Count(string(maps), "tensorcache-ring") + strings.Count(string(maps), "/tmp/ring-"),
		runtime.NumGoroutine()}
}

func TestAttachingAndLeavingLeavesNothing(t *testing.T) {
	const rounds = 1000
	w := newWorld(t, roomy)
	w.series(t, "d", 1000)
	leave := []func(tr *trainer){
		func(*trainer) {},
		func(tr *trainer) { tr.batch(t) },
		func(tr *trainer) { sends(wire.FrameDone, nil)(t, tr) },
		func(tr *trainer) { tr.credit(t, 9999) },
	}
	gone := func() bool { return w.server.Connections() == 0 }
	round := func(i int) {
		tr := w.attach(t, request("d", with("slots", 3)))
		leave[i%len(leave)](tr)
		tr.close()
	}
	for i := range 20 { // the runtime keeps some of what it once needed
		round(i)
		until(t, "gone", gone)
	}
	before, memory := have(t), heap()
	for i := range rounds {
		round(i)
	}
	until(t, "gone", gone)
	var after resources
	// what was published is being written to the disk meanwhile
	until(t, fmt.Sprintf("given back: %+v before", before), func() bool {
		after = have(t)
		return after.goroutines <= before.goroutines && after.descriptors <= before.descriptors &&
			after.maps == 0
	})
	if grown := heap() - memory; grown > 1<<20 {
		t.Errorf("%d bytes more are live after %d rounds", grown, rounds)
	}
}
