package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/tensorcache/tensorcache/internal/control"
)

// startLock is the lock that a daemon takes before it ends by itself, so that no client starts
// another one meanwhile.
type startLock struct{ file *os.File }

func (l startLock) release() {
	if l.file != nil {
		l.file.Close()
	}
}

// A daemon that should stop when it is idle checks this every idleInterval. It must have been idle
// for minIdle: a trainer may be about to attach again, or to attach its next feed.
const (
	minIdle      = time.Second
	idleInterval = 50 * time.Millisecond
)

// shutdownWatch waits until the daemon has to stop.
type shutdownWatch struct {
	dir      string
	whenIdle <-chan struct{} // closed when the daemon should stop as soon as it is idle
	isIdle   func() bool     // no client needs the daemon; new ones are served
	isUnused func() bool     // no client has used the daemon for long
	interval time.Duration   // time between checks
}

// wait returns when the daemon was told to stop, is idle after whenIdle, or is unused.
func (w *shutdownWatch) wait(stopping context.Context) startLock {
	tick := time.NewTicker(w.interval)
	defer tick.Stop()
	whenIdle, since := w.whenIdle, time.Now()
	for {
		select {
		case <-stopping.Done():
			return startLock{}
		case <-whenIdle:
			whenIdle = nil
			tick.Reset(idleInterval)
		case <-tick.C:
		}
		if whenIdle != nil || !w.isIdle() {
			since = time.Now()
		}
		isDue := w.isUnused
		if whenIdle == nil {
			isDue = func() bool { return w.isIdle() && time.Since(since) >= minIdle }
		}
		if !isDue() {
			continue
		}
		lock, err := control.LockStart(w.dir)
		if err != nil {
			continue
		}
		if isDue() { // check again, because a client may have come before the lock
			return startLock{lock}
		}
		lock.Close()
	}
}

// forceExit ends a daemon in which something blocks. Published data is complete on the disk.
func forceExit(log *slog.Logger, s *sockets) {
	log.Error("the daemon did not stop in time; it exits", "seconds", shutdownTimeout.Seconds())
	s.remove()
	os.Exit(exitFailed)
}
