package feed

import (
	"runtime"
	"sync/atomic"
)

// load counts the goroutines of all feeds that keep one of Go's processors: gather workers that
// have a batch, and producers that do not wait, or only for a moment. Where they are fewer than
// those, whoever becomes ready gets one of the others; to give way then wakes a thread for nothing,
// which takes the trainer's core for a while.
type load struct {
	working    atomic.Int32
	processors int32
}

func (l *load) begin() { l.working.Add(1) }
func (l *load) end()   { l.working.Add(-1) }

// yield gives way where others may wait for a processor. A nil load is of work that nobody is
// behind.
func (l *load) yield() {
	if l != nil && l.working.Load() >= l.processors {
		runtime.Gosched()
	}
}

// spare tells whether a processor is left for others while one that works keeps its own through a
// system call.
func (l *load) spare() bool { return l.working.Load() < l.processors }
