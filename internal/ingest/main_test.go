package ingest

import (
	"context"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/layout"
)

// TestMain is also the child of loads: the test binary starts itself with the verb.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == Verb {
		os.Exit(Main(os.Stdin, os.Stdout))
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0 halt_on_error=1") // how a child ends that was done is seen by nobody
	goleak.VerifyTestMain(m)
}

// inProcess loads in this process.
func inProcess(t *testing.T, o option.Options) (*layout.Manifest, string, error) {
	t.Helper()
	dir := t.TempDir()
	m, err := runRequest(context.Background(), Request{Dir: dir, Options: o}, &progress.Meter{})
	return m, dir, err
}

func mustLoad(t *testing.T, o option.Options) loadtest.Loaded {
	t.Helper()
	_, dir, err := inProcess(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return loadtest.OpenDir(t, dir)
}
