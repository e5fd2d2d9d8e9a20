package load

import (
	"context"
	"testing"

	"github.com/tensorcache/tensorcache/internal/ingest/loadtest"
	"github.com/tensorcache/tensorcache/internal/ingest/option"
	"github.com/tensorcache/tensorcache/internal/ingest/progress"
	"github.com/tensorcache/tensorcache/layout"
)

// loadInProcess loads into a new directory, without a child process. It returns the manifest and
// the directory.
func loadInProcess(t *testing.T, o option.Options) (*layout.Manifest, string, error) {
	t.Helper()
	dir := t.TempDir()
	m, err := Run(context.Background(), Request{Dir: dir, Options: o}, &progress.Meter{})
	return m, dir, err
}

// mustLoad loads without a child process and opens the generation.
func mustLoad(t *testing.T, o option.Options) loadtest.Loaded {
	t.Helper()
	_, dir, err := loadInProcess(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return loadtest.OpenDir(t, dir)
}
