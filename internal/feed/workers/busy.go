package workers

import (
	"runtime"
	"sync/atomic"
)

// Busy counts the goroutines of all feeds that use one of Go's processors (Ps): gather workers that
// have a batch, and producers that do not wait, or only for a moment. The zero value has no
// processors.
type Busy struct {
	working    atomic.Int32
	processors int32
}

// Begin counts the calling goroutine as busy until End.
func (b *Busy) Begin() { b.working.Add(1) }

// End undoes Begin.
func (b *Busy) End() { b.working.Add(-1) }

// Yield lets other goroutines run if every processor is busy. If one is idle, a goroutine that
// becomes ready runs there at once; to yield then would only wake another thread, which competes
// with the trainer for a core.
func (b *Busy) Yield() {
	if b.working.Load() >= b.processors {
		runtime.Gosched()
	}
}

// HasSpare reports whether a processor is left for others while a busy goroutine keeps its own in a
// system call.
func (b *Busy) HasSpare() bool { return b.working.Load() < b.processors }
