package store

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/tensorcache/tensorcache/internal/machine"
	"github.com/tensorcache/tensorcache/internal/mmapfile"
)

// tablePrefix begins the keys of derived files that are tables.
const tablePrefix = "table-"

// tablesShare: the tables of a generation take at most one in so many of the bytes of its files,
// except for those in use and the one that was used last.
const tablesShare = 4

// SpaceError is returned when a disk has no space for a table. It wraps ENOSPC.
type SpaceError struct {
	What, Dir  string
	Need, Have int64 // bytes
}

func (e *SpaceError) Error() string {
	return fmt.Sprintf("%s needs %s, the disk of %s has %s left", e.What,
		humanize.IBytes(uint64(e.Need)), e.Dir, humanize.IBytes(uint64(e.Have)))
}

// Unwrap makes errors.Is(err, syscall.ENOSPC) true.
func (e *SpaceError) Unwrap() error { return syscall.ENOSPC }

// tables are the tables of a generation that handles use.
type tables struct {
	mu   sync.Mutex // also held while files are removed
	used map[string]*table
}

// table is the content of a derived file, mapped, or in memory if it cannot be written.
type table struct {
	users   int // guarded by tables.mu
	open    func() error
	content []byte
	file    *mmapfile.Map // nil if the content is in memory
}

// Table returns the content of a large derived file, which stays mapped until the handle is
// released. The name consists of letters, digits and "-". If there is no file, compute makes the
// content, which takes at most need bytes, and uses as many bytes of memory as memory says. The
// error wraps [ErrMemory] or is a *SpaceError if there is no memory or no disk space for that.
//
// Tables take at most a quarter of the bytes of the generation's files. Above that, those that were
// used least recently are removed, except for the last one and those in use.
func (h *Handle) Table(name string, need, memory int64, compute func() ([]byte, error)) ([]byte,
	error) {
	key := tablePrefix + name
	t := h.g.useTable(key, need, memory, compute)
	h.beforeRelease(func() { h.g.releaseTable(key, t) })
	if err := t.open(); err != nil {
		return nil, err
	}
	return t.content, nil
}

// useTable returns the table of a key, and counts a user.
func (g *generation) useTable(key string, need, memory int64,
	compute func() ([]byte, error)) *table {
	g.tables.mu.Lock()
	defer g.tables.mu.Unlock()
	t := g.tables.used[key]
	if t == nil {
		t = &table{}
		t.open = sync.OnceValue(func() error { return g.openTable(t, key, need, memory, compute) })
		if g.tables.used == nil {
			g.tables.used = map[string]*table{}
		}
		g.tables.used[key] = t
	}
	t.users++
	return t
}

// releaseTable ends one use. The last user unmaps the file.
func (g *generation) releaseTable(key string, t *table) {
	g.tables.mu.Lock()
	defer g.tables.mu.Unlock()
	if t.users--; t.users > 0 {
		return
	}
	delete(g.tables.used, key)
	if t.file != nil {
		if err := t.file.Close(); err != nil {
			g.store.log.Error("unmap", "dir", g.dir, "what", key, "error", err)
		}
		g.markUsed(key)
	}
	g.removeUnusedTables()
}

// openTable maps the file of a table. It makes the file if there is none, or if it is incomplete or
// of another generation.
func (g *generation) openTable(t *table, key string, need, memory int64,
	compute func() ([]byte, error)) error {
	err := g.mapTable(t, key)
	if err == nil {
		return nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		g.store.log.Warn("made a derived file again", "dir", g.dir, "what", key, "error", err)
	}
	what := "grouping the windows of " + g.dataset
	release, err := g.store.Budget.reserveWork(what, memory, g)
	if err != nil {
		return err
	}
	defer release()
	if err := g.checkTableSpace(what, need); err != nil {
		return err
	}
	content, err := compute()
	if err != nil {
		return err
	}
	err = g.writeDerived(key, content)
	if err == nil {
		err = g.mapTable(t, key)
	}
	if err != nil {
		if !g.isGone() {
			g.warnUnwritable(err)
		}
		t.content = content
	}
	g.tables.mu.Lock()
	defer g.tables.mu.Unlock()
	g.removeUnusedTables()
	return nil
}

// mapTable maps the file of a table, checks it, and marks it as used now.
func (g *generation) mapTable(t *table, key string) error {
	m, err := mmapfile.Open(g.derivedPath(key))
	if err != nil {
		return err
	}
	b, err := m.Bytes(0, m.Len())
	if err == nil {
		t.content, err = g.checkDerived(key, b)
	}
	if err != nil {
		return errors.Join(err, m.Close())
	}
	g.markUsed(key)
	t.file = m
	return nil
}

// markUsed sets the time at which a table was used last, which is the mtime of its file.
func (g *generation) markUsed(key string) {
	path, now := g.derivedPath(key), time.Now()
	if err := os.Chtimes(path, now, now); err != nil && !errors.Is(err, os.ErrNotExist) {
		g.store.log.Warn("mark as used", "file", path, "error", err)
	}
}

// checkTableSpace returns an error if the disk has no space for a table, even after tables that are
// not in use are removed.
func (g *generation) checkTableSpace(what string, need int64) error {
	have, _, err := machine.Disk(g.store.dir.path)
	if err != nil || need <= have {
		return nil // if the space is not known, the write decides
	}
	g.tables.mu.Lock()
	defer g.tables.mu.Unlock()
	files, err := g.tableFiles()
	if err != nil {
		return err
	}
	for _, f := range files {
		if g.tables.used[f.key] == nil && g.removeTable(f) {
			have += f.bytes
		}
	}
	if need > have {
		return &SpaceError{What: what, Dir: g.store.dir.path, Need: need, Have: have}
	}
	return nil
}

// tableFile is the file of a table.
type tableFile struct {
	key   string
	path  string
	bytes int64
	used  time.Time
}

// tableFiles returns the files of the generation's tables, the least recently used first.
func (g *generation) tableFiles() (files []tableFile, err error) {
	err = g.eachDerived(func(path string, info os.FileInfo) {
		if key := info.Name(); strings.HasPrefix(key, tablePrefix) {
			files = append(files, tableFile{key, path, info.Size(), info.ModTime()})
		}
	})
	slices.SortFunc(files, func(a, b tableFile) int { return a.used.Compare(b.used) })
	return files, err
}

// removeUnusedTables removes tables until all of them together take at most their share. The caller
// holds tables.mu.
func (g *generation) removeUnusedTables() {
	files, err := g.tableFiles()
	if err != nil {
		g.store.log.Warn("list derived files", "dir", g.dir, "error", err)
		return
	}
	sum, limit := int64(0), bytesOf(g.manifest)/tablesShare
	for _, f := range files {
		sum += f.bytes
	}
	for i, f := range files {
		if sum <= limit || i == len(files)-1 {
			return
		}
		if g.tables.used[f.key] == nil && g.removeTable(f) {
			sum -= f.bytes
		}
	}
}

// removeTable removes the file of a table, and reports whether it did.
func (g *generation) removeTable(f tableFile) bool {
	err := os.Remove(f.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		g.store.log.Warn("remove", "file", f.path, "error", err)
		return false
	}
	g.store.log.Info("removed a derived file that was not used lately", "file", f.path, "bytes",
		f.bytes)
	return true
}
