package jobs

import (
	"log/slog"

	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/store"
)

// Config says what a manager is made of.
type Config struct {
	Store *store.Store
	// Exe is the program that each load starts as its child process, with the verb [ingest.Verb].
	Exe string
	Log *slog.Logger
	// Cores is the number of cores that loads divide among them; 0 means those that Go may use.
	Cores int
}

// Manager starts the jobs of each kind: loads, appends and puts in child processes; verifications
// and preloads in the daemon. The embedded [Queue] lets them run. It is safe for concurrent use.
type Manager struct {
	*Queue
	store    *store.Store
	children *ingest.Runner
	ranges   chan struct{} // has an element for each child process of Ranges
}

// New returns a manager with no jobs. Close ends it.
func New(c Config) *Manager {
	q := newQueue(c.Cores, c.Log)
	return &Manager{Queue: q, store: c.Store, children: &ingest.Runner{Exe: c.Exe},
		ranges: make(chan struct{}, q.cores)}
}

// Close refuses new jobs, cancels all others and waits until they and their child processes have
// ended. It is idempotent.
func (m *Manager) Close() {
	m.Queue.Close()
	m.WaitForChildren()
}

// WaitForChildren waits until the child processes of all jobs that have ended have exited. Until
// then they still map the files that they wrote, so that the pages of these stay in memory.
func (m *Manager) WaitForChildren() { m.children.Settle() }
