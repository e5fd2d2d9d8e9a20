package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tensorcache/tensorcache/layout"
)

// TestANameThatTheFileSystemTakesForAnotherIsRefused gives a directory two names, as a file system
// does that ignores case.
func TestANameThatTheFileSystemTakesForAnotherIsRefused(t *testing.T) {
	s := openStore(t, t.TempDir())
	publish(t, s, "Prices", 1)
	early, err := s.Begin("prices")
	if err != nil {
		t.Fatal(err)
	}
	defer early.Abort()
	write(t, early, 2)
	datasets := filepath.Join(s.dir.path, datasetsDir)
	if _, err := os.Stat(filepath.Join(datasets, "prices")); err == nil {
		t.Skip("this file system ignores case: the dataset that is published first has the name")
	}
	if err := os.Symlink("Prices", filepath.Join(datasets, "prices")); err != nil {
		t.Fatal(err)
	}
	if _, err := early.Publish(); !errors.Is(err, layout.ErrName) {
		t.Errorf("published: %v", err)
	}
	if _, err := s.Begin("prices"); !errors.Is(err, layout.ErrName) {
		t.Errorf("begun: %v", err)
	}
	if err := os.Remove(filepath.Join(datasets, "prices")); err != nil {
		t.Fatal(err)
	}
	publish(t, s, "prices", 4)
	if publish(t, s, "Prices", 3) != 2 {
		t.Error("another generation of the one that there was")
	}
	if got := read(t, acquire(t, s, "Prices", 0)); got != 3 {
		t.Errorf("%v, want 3", got)
	}
}
