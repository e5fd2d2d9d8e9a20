package main

import (
	"log/slog"
	"sync"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// announcement is what daemon.json says, which changes when the dashboard is first asked for. It is safe for concurrent use.
type announcement struct {
	dir string

	mu     sync.Mutex
	daemon wire.Daemon
}

func (a *announcement) write() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return control.WriteDaemon(a.dir, a.daemon)
}

// http adds where the control API is served over TCP.
func (a *announcement) http(addr string, log *slog.Logger) {
	a.mu.Lock()
	a.daemon.HTTP = addr
	a.mu.Unlock()
	if err := a.write(); err != nil {
		log.Error("announce the address", "error", err)
	}
}
