package ingest

import (
	"context"
	"os"
	"testing"

	"go.uber.org/goleak"

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

// loaded is a generation that a test has loaded.
type loaded struct {
	*testing.T
	*layout.Data
}

// inProcess loads in this process.
func inProcess(t *testing.T, o option.Options) (*layout.Manifest, string, error) {
	t.Helper()
	dir := t.TempDir()
	m, err := runRequest(context.Background(), Request{Dir: dir, Options: o}, &progress.Meter{})
	return m, dir, err
}

func mustLoad(t *testing.T, o option.Options) loaded {
	t.Helper()
	_, dir, err := inProcess(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return openDir(t, dir)
}

func openDir(t *testing.T, dir string) loaded {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			t.Errorf("%s was left behind", e.Name())
		}
	}
	d, err := layout.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if err := d.Verify(); err != nil { // checksums are taken while values are written
		t.Error(err)
	}
	return loaded{t, d}
}

// values are those of a column, dense.
func values[T layout.Native](l loaded, name string) []T {
	l.Helper()
	c, err := l.Manifest.Column(name)
	if err != nil {
		l.Fatal(err)
	}
	v, err := layout.View[T](l.Data, c)
	if err != nil {
		l.Fatal(err)
	}
	var out []T
	for row := range v.Rows {
		out = append(out, v.Row(row)...)
	}
	return out
}
