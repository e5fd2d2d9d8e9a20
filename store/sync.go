package store

import (
	"os"
	"path/filepath"
	"time"

	"github.com/tensorcache/tensorcache/layout"
)

// syncAfter is the time from publishing a generation to writing it to disk. Until then its first
// readers do not share the machine with the writes, and a generation that is soon replaced or
// removed is never written.
const syncAfter = time.Second

// syncLater writes the generation to disk in the background and marks it as synced. The caller
// holds catalogue.mu or is Open.
func (g *generation) syncLater() {
	if g.isSynced() || !g.isOfThisBoot() {
		return
	}
	s := g.store
	s.background.Go(func() {
		wait := time.NewTimer(syncAfter)
		defer wait.Stop()
		select {
		case <-s.ctx.Done():
			return
		case <-wait.C:
		}
		if g.isGone() {
			return
		}
		if err := g.sync(); err != nil && !os.IsNotExist(err) {
			s.log.Warn("sync", "dir", g.dir, "error", err)
		}
	})
}

// sync flushes the generation's files, then its directory and those above it, and then marks the
// generation as synced. It stops without an error when the store closes.
func (g *generation) sync() error {
	entries, err := os.ReadDir(g.dir)
	if err != nil {
		return err
	}
	paths := []string{}
	for _, e := range entries {
		if e.Type().IsRegular() {
			paths = append(paths, filepath.Join(g.dir, e.Name()))
		}
	}
	for _, path := range append(paths, g.dir, filepath.Dir(g.dir), g.store.dir.datasets()) {
		select {
		case <-g.store.ctx.Done():
			return nil
		default:
		}
		if err := syncPath(path); err != nil {
			return err
		}
	}
	return g.markSynced()
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// isSynced reports whether the generation is marked as being on the disk.
func (g *generation) isSynced() bool {
	_, err := os.Stat(filepath.Join(g.dir, layout.SyncedFile))
	return err == nil
}

// isOfThisBoot reports whether the generation was written since the machine started.
func (g *generation) isOfThisBoot() bool { return g.manifest.Boot == layout.BootID() }

// markSynced marks the generation as being on the disk. It does not mark one that is gone, because
// another generation may have the same directory.
func (g *generation) markSynced() error {
	g.store.catalogue.mu.Lock()
	defer g.store.catalogue.mu.Unlock()
	if g.gone {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(g.dir, layout.SyncedFile), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
