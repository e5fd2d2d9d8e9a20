package store

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// TestOpenWaitsForProcessesThatShareTheLock shares the lock for much longer than one that is held is
// tried for.
func TestOpenWaitsForProcessesThatShareTheLock(t *testing.T) {
	dir := t.TempDir()
	looks, err := os.Create(filepath.Join(dir, lockFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(looks.Fd()), unix.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		go func() {
			time.Sleep(10 * lockTries * lockPause) // of the bubble's clock
			looks.Close()
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
