package ingest

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
)

// TestMain runs the tests, or a load if the test binary is the child process of one: Run starts the
// binary with the verb.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == Verb {
		os.Exit(Main(os.Stdin, os.Stdout))
	}
	// Under the race detector, a child must exit at once and at the first race.
	os.Setenv("GORACE", "atexit_sleep_ms=0 halt_on_error=1")
	goleak.VerifyTestMain(m)
}

// loadInProcess loads without a child process and opens the generation.
func loadInProcess(t *testing.T, o Options) loadtest.Loaded {
	t.Helper()
	dir := t.TempDir()
	if _, err := (Job{Dir: dir, Options: o}).load(t.Context(), nil, &progress.Meter{}); err != nil {
		t.Fatal(err)
	}
	return loadtest.OpenDir(t, dir)
}
