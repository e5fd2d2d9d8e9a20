package jobs

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tensorcache/tensorcache/internal/ingest"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
)

// TestMain also runs the child of loads: the test binary starts itself with the verb.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == ingest.Verb {
		os.Exit(ingest.Main(os.Stdin, os.Stdout))
	}
	// A finished child ends without being observed.
	os.Setenv("GORACE", "atexit_sleep_ms=0 halt_on_error=1")
	goleak.VerifyTestMain(m)
}

var discard = slog.New(slog.NewTextHandler(io.Discard, nil))

// testTimeout is for what must happen soon.
const testTimeout = 20 * time.Second

// newTestQueue returns a queue of this number of cores that is closed when the test ends.
func newTestQueue(t *testing.T, cores int) *Queue {
	q := newQueue(cores, discard)
	t.Cleanup(q.Close)
	return q
}

// newTestManager returns a manager with an empty store. Both are closed when the test ends.
func newTestManager(t *testing.T) *Manager {
	t.Helper()
	s, err := store.Open(t.TempDir(), discard)
	if err != nil {
		t.Fatal(err)
	}
	m := New(Config{Store: s, Exe: os.Args[0], Log: discard})
	t.Cleanup(func() {
		m.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// loadText loads a CSV file with this text and waits for the end of the job.
func loadText(t *testing.T, m *Manager, dataset, text string) wire.Job {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	job, err := m.Load(dataset, ingest.Options{Sources: []string{path}})
	if err == nil {
		job, err = m.Wait(job.Job, testTimeout)
	}
	if err != nil || job.State != wire.JobDone {
		t.Fatalf("%+v, %v", job, err)
	}
	return job
}
