package store

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tensorcache/tensorcache/layout"
)

// isMarked reports whether the generation is marked as synced.
func isMarked(s *Store, name string, number int64) bool {
	_, err := os.Stat(filepath.Join(s.dir.generation(name, number), layout.SyncedFile))
	return err == nil
}

func TestGenerationsAreSyncedAfterSomeTime(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, dir)
		publish(t, s, "x", 1)
		publish(t, s, "y", 1)
		synctest.Wait()
		if isMarked(s, "x", 1) {
			t.Error("synced at once")
		}
		if _, err := s.Remove("y"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(syncAfter) // on the clock of synctest, which does not wait
		synctest.Wait()
		if !isMarked(s, "x", 1) {
			t.Error("never synced")
		}
		publish(t, s, "z", 1)
		if err := s.Close(); err != nil { // does not wait for the time to pass
			t.Error(err)
		}
		if isMarked(s, "z", 1) {
			t.Error("synced while the store closed")
		}
		s = openStore(t, dir)
		time.Sleep(syncAfter)
		synctest.Wait()
		if !isMarked(s, "z", 1) {
			t.Error("what was not synced when the store was closed is not synced when it is opened")
		}
	})
}
