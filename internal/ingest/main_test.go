package ingest

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
)

// TestMain also runs the child of loads: the test binary starts itself with the verb.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == Verb {
		os.Exit(Main(os.Stdin, os.Stdout))
	}
	// A finished child ends without being observed.
	os.Setenv("GORACE", "atexit_sleep_ms=0 halt_on_error=1")
	goleak.VerifyTestMain(m)
}

// loadHere loads in this process and opens the generation.
func loadHere(t *testing.T, o Options) loadtest.Loaded {
	t.Helper()
	dir := t.TempDir()
	if _, err := (Job{Dir: dir, Options: o}).load(t.Context(), nil, &progress.Meter{}); err != nil {
		t.Fatal(err)
	}
	return loadtest.OpenDir(t, dir)
}
