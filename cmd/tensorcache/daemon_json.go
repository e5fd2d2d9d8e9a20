package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// daemonJSON writes the daemon's file daemon.json, again when the control API is opened over TCP.
// It is safe for concurrent use.
type daemonJSON struct {
	dir   string
	share bool // other users may read it

	mu     sync.Mutex
	daemon wire.Daemon
}

func (a *daemonJSON) write() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := control.WriteDaemon(a.dir, a.daemon); err != nil || !a.share {
		return err
	}
	return os.Chmod(filepath.Join(a.dir, control.DaemonFile), 0o644)
}

// setHTTP adds the address of the control API over TCP.
func (a *daemonJSON) setHTTP(addr string, log *slog.Logger) {
	a.mu.Lock()
	a.daemon.HTTP = addr
	a.mu.Unlock()
	if err := a.write(); err != nil {
		log.Error("write the address to daemon.json", "error", err)
	}
}
