package feed

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/testwait"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// resources are the resources of this process that a feed uses.
type resources struct{ descriptors, maps, goroutines int }

func measureResources(t *testing.T) resources {
	t.Helper()
	maps := must(os.ReadFile("/proc/self/maps"))(t)
	return resources{len(must(os.ReadDir("/proc/self/fd"))(t)),
		strings.Count(string(maps), "tensorcache-ring") + strings.Count(string(maps), "/tmp/ring-"),
		runtime.NumGoroutine()}
}

func TestAttachingAndDetachingLeaksNothing(t *testing.T) {
	const rounds = 1000
	env := newTestEnv(t, largeBudget)
	env.publishSeries(t, "d", 1000)
	leave := []func(tr *trainer){
		func(*trainer) {},
		func(tr *trainer) { tr.batch(t) },
		func(tr *trainer) { sendsFrame(wire.FrameDone, nil)(t, tr) },
		func(tr *trainer) { tr.credit(t, 9999) },
	}
	gone := func() bool { return env.server.Connections() == 0 }
	round := func(i int) {
		tr := env.attach(t, request("d", with("slots", 3)))
		leave[i%len(leave)](tr)
		tr.close()
	}
	for i := range 20 { // the runtime keeps some resources after their first use
		round(i)
		testwait.Until(t, "gone", gone)
	}
	before, memory := measureResources(t), heap()
	for i := range rounds {
		round(i)
	}
	testwait.Until(t, "gone", gone)
	var after resources
	// The system may still write the published dataset to the disk.
	testwait.Until(t, fmt.Sprintf("given back: %+v before", before), func() bool {
		after = measureResources(t)
		return after.goroutines <= before.goroutines && after.descriptors <= before.descriptors &&
			after.maps == 0
	})
	if grown := heap() - memory; grown > 1<<20 {
		t.Errorf("%d bytes more are live after %d rounds", grown, rounds)
	}
}
