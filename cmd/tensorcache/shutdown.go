package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/tensorcache/tensorcache/internal/control"
)

// startLock is held by a daemon that leaves by itself, so that no client starts one meanwhile.
type startLock struct{ file *os.File }

func (l startLock) release() {
	if l.file != nil {
		l.file.Close()
	}
}

// Idle is who has nothing to do for so long, which is looked up so often: a trainer that attaches
// anew, or its next feed after the last, is no end.
const (
	minIdle      = time.Second
	idleInterval = 50 * time.Millisecond
)

// ending is when a daemon leaves without being told to at once.
type shutdownWatch struct {
	dir      string
	whenIdle <-chan struct{} // closed once it shall leave as soon as it is idle
	isIdle   func() bool     // nobody needs it: whoever comes is served until then
	isUnused func() bool     // nobody has used it for long
	interval time.Duration   // how often that is looked up
}

// wait returns when the daemon is to end, because it was told to or by itself.
func (e *shutdownWatch) wait(stopping context.Context) startLock {
	tick := time.NewTicker(e.interval)
	defer tick.Stop()
	asked, since := e.whenIdle, time.Now()
	for {
		select {
		case <-stopping.Done():
			return startLock{}
		case <-asked:
			asked = nil
			tick.Reset(idleInterval)
		case <-tick.C:
		}
		if asked != nil || !e.isIdle() {
			since = time.Now()
		}
		leaves := e.isUnused
		if asked == nil {
			leaves = func() bool { return e.isIdle() && time.Since(since) >= minIdle }
		}
		if !leaves() {
			continue
		}
		lock, err := control.LockStart(e.dir)
		if err != nil {
			continue
		}
		if leaves() { // still, now that no client finds none and starts one
			return startLock{lock}
		}
		lock.Close()
	}
}

// giveUp ends a daemon in which something does not end. Nothing is lost by that: what was published
// is whole.
func forceExit(log *slog.Logger, s *sockets) {
	log.Error("gave up waiting for the end", "seconds", shutdownTimeout.Seconds())
	s.remove()
	os.Exit(exitFailed)
}
