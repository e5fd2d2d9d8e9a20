package store

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// TestOpenWaitsForProcessesThatShareTheLock shares the lock for much longer than takeLock tries if
// a process holds it exclusively.
func TestOpenWaitsForProcessesThatShareTheLock(t *testing.T) {
	dir := t.TempDir()
	shared, err := os.Create(filepath.Join(dir, lockFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(shared.Fd()), unix.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		go func() {
			time.Sleep(10 * lockTries * lockPause) // on the clock of synctest
			shared.Close()
		}()
		f, err := takeLock(dir)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := takeLock(dir); err == nil {
			again.Close()
			t.Error("the lock was taken twice")
		}
		f.Close()
	})
}
