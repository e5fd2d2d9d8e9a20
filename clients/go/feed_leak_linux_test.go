package tensorcache

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/tensorcache/tensorcache/internal/testwait"
	"github.com/tensorcache/tensorcache/window"
)

// processUse is what a process uses: descriptors, mapped rings, and bytes of private memory.
type processUse struct {
	files, rings int
	memory       int64
}

func processUseOf(t *testing.T, pid int) (h processUse) {
	t.Helper()
	at := fmt.Sprintf("/proc/%d", pid)
	h.files = len(must(os.ReadDir(at + "/fd"))(t))
	h.rings = bytes.Count(must(os.ReadFile(at+"/maps"))(t), []byte(" rw-s "))
	for line := range bytes.Lines(must(os.ReadFile(at + "/status"))(t)) {
		var kilobytes int64
		if n, _ := fmt.Sscanf(string(line), "RssAnon: %d kB", &kilobytes); n == 1 {
			h.memory += kilobytes << 10
		}
	}
	return h
}

func TestAThousandFeedsLeakNothing(t *testing.T) {
	const warm, rounds = 100, 1000
	// The allocators may keep this much. A leak of one feed counts a thousand times.
	const tolerance = 16 << 20
	c := newDaemon(t)
	w := rampWindows(t, c, 200, window.Spec{})
	both := []int{os.Getpid(), c.control.Daemon.PID}
	run := func(n int) (now []processUse) {
		for i := range n {
			f := must(NewFeed[float32](t.Context(), w, FeedOptions{BatchSize: 8, Slots: 3}))(t)
			if i%2 == 1 {
				must(collectStarts(t, t.Context(), f, 1))(t)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
		testwait.Until(t, "all rings are gone",
			func() bool { return processUseOf(t, both[1]).rings == 0 })
		runtime.GC()
		for _, pid := range both {
			now = append(now, processUseOf(t, pid))
		}
		return now
	}
	before := run(warm)
	after := run(rounds)
	testwait.Until(t, "the daemon has no descriptor more",
		func() bool { return processUseOf(t, both[1]).files <= before[1].files })
	for i, was := range before {
		if now := after[i]; now.rings > 0 || now.memory > was.memory+tolerance || i == 0 &&
			now.files > was.files {
			t.Errorf("process %d of 2: %+v after %d rounds, %+v before", i+1, now, rounds, was)
		}
	}
}
