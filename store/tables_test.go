package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// tableOf returns a table of n bytes, and reports whether it was made.
func tableOf(t *testing.T, h *Handle, name string, n int64) (content []byte, made bool) {
	t.Helper()
	want := bytes.Repeat([]byte(name[:1]), int(n))
	content, err := h.Table(name, n, n, func() ([]byte, error) { made = true; return want, nil })
	if err != nil || !bytes.Equal(content, want) {
		t.Fatalf("table %s: %d bytes, %v", name, len(content), err)
	}
	return content, made
}

func tableNames(t *testing.T, s *Store) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.Dir(), datasetsDir, "d", "*", derivedDir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range paths {
		paths[i] = strings.TrimPrefix(filepath.Base(paths[i]), tablePrefix)
	}
	return strings.Join(paths, " ")
}

func TestATableIsMappedUntilTheLastHandleIsReleased(t *testing.T) {
	s := openStore(t, t.TempDir())
	publish(t, s, "d", 1)
	first, second := acquire(t, s, "d", 0), acquire(t, s, "d", 0)
	a, made := tableOf(t, first, "a", 100)
	b, again := tableOf(t, second, "a", 100)
	if !made || again || &a[0] != &b[0] {
		t.Errorf("made %t and again %t", made, again)
	}
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil &&
		!strings.Contains(string(maps), "table-a") {
		t.Error("it is not mapped")
	}
	first.Release()
	if b[99] != 'a' {
		t.Error("the second handle lost it")
	}
	if info, err := s.Dataset("d"); err != nil || info.DerivedBytes != derivedHeaderBytes+100 {
		t.Errorf("%d bytes are derived, %v", info.DerivedBytes, err)
	}
	second.Release()
	if maps, _ := os.ReadFile("/proc/self/maps"); strings.Contains(string(maps), "table-a") {
		t.Error("it is mapped after the last release")
	}
	if _, made := tableOf(t, acquire(t, s, "d", 0), "a", 100); made {
		t.Error("its file was not used again")
	}
}

func TestATableThatIsDamagedIsMadeAgain(t *testing.T) {
	s := openStore(t, t.TempDir())
	publish(t, s, "d", 1)
	h := acquire(t, s, "d", 0)
	tableOf(t, h, "a", 100)
	h.Release()
	path := filepath.Join(s.Dir(), datasetsDir, "d", "1", derivedDir, "table-a")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[70] ^= 4
	for what, b := range map[string][]byte{"cut off": whole[:len(whole)-1], "empty": {},
		"without content": whole[:derivedHeaderBytes], "changed": flipped,
		"longer": append(bytes.Clone(whole), 0)} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		h := acquire(t, s, "d", 0)
		if _, made := tableOf(t, h, "a", 100); !made {
			t.Errorf("%s: it is used", what)
		}
		h.Release()
	}
}

// TestTablesTakeAQuarterOfTheDataset: those that were used least recently are removed, but not
// those in use, nor the last one.
func TestTablesTakeAQuarterOfTheDataset(t *testing.T) {
	s := openStore(t, t.TempDir())
	publish(t, s, "d", 1)
	third := bytesOf(s.catalogue.newest("d").manifest) / tablesShare / 3
	n := third - derivedHeaderBytes
	use := func(name string) {
		t.Helper()
		h := acquire(t, s, "d", 0)
		tableOf(t, h, name, n)
		h.Release()
		time.Sleep(time.Millisecond) // so that no two tables have one time of use
	}
	for _, step := range []struct{ use, left string }{
		{"a", "a"}, {"b", "a b"}, {"c", "a b c"}, {"a", "a b c"}, {"d", "a c d"}, {"c", "a c d"},
		{"e", "c d e"},
	} {
		if use(step.use); tableNames(t, s) != step.left {
			t.Errorf("after %s: left %s, want %s", step.use, tableNames(t, s), step.left)
		}
	}
	held := acquire(t, s, "d", 0)
	content, _ := tableOf(t, held, "c", n)
	for _, name := range []string{"f", "g", "h"} {
		use(name)
	}
	if got := tableNames(t, s); got != "c g h" || content[0] != 'c' {
		t.Errorf("left %s, want c, which is in use, g and h", got)
	}
	all := acquire(t, s, "d", 0)
	tableOf(t, all, "large", 100*third)
	if got := tableNames(t, s); got != "c large" {
		t.Errorf("left %s, want the tables in use", got)
	}
	all.Release()
	held.Release()
	if got := tableNames(t, s); got != "c" {
		t.Errorf("left %s, want the table that was used last", got)
	}
}

func TestManyUsersMakeATableOnce(t *testing.T) {
	s := openStore(t, t.TempDir())
	publish(t, s, "d", 1)
	var all sync.WaitGroup
	var made atomic.Int32
	for i := range 32 {
		all.Go(func() {
			h, err := s.Acquire("d", 0)
			if err != nil {
				t.Error(err)
				return
			}
			defer h.Release()
			name := fmt.Sprint("n", i%2)
			b, err := h.Table(name, 10, 10, func() ([]byte, error) {
				made.Add(1)
				return []byte(name), nil
			})
			if err != nil || string(b) != name {
				t.Errorf("got %q, %v", b, err)
			}
		})
	}
	all.Wait()
	if made.Load() < 2 || made.Load() > 32 {
		t.Errorf("made %d times", made.Load())
	}
}

func TestATableThatCannotBeMadeIsTriedAgain(t *testing.T) {
	s := openStore(t, t.TempDir())
	publish(t, s, "d", 1)
	refused := errors.New("refused")
	h := acquire(t, s, "d", 0)
	if _, err := h.Table("a", 9, 9, func() ([]byte, error) { return nil, refused }); !errors.Is(err,
		refused) {
		t.Errorf("got %v", err)
	}
	h.Release()
	if _, made := tableOf(t, acquire(t, s, "d", 0), "a", 9); !made {
		t.Error("the error was stored")
	}
}

func TestATableIsRefusedWithoutMemoryOrDiskSpace(t *testing.T) {
	s := openStore(t, t.TempDir())
	publish(t, s, "d", 1)
	h := acquire(t, s, "d", 0)
	make := func() ([]byte, error) { t.Error("it was made"); return nil, nil }
	_, err := h.Table("a", 1<<60, 1, make)
	var space *SpaceError
	if !errors.As(err, &space) || !errors.Is(err, syscall.ENOSPC) || space.Need != 1<<60 ||
		space.Have < 1 {
		t.Errorf("without disk space: %v", err)
	}
	h.Release()
	s.Budget.Set(1 << 20)
	_, err = acquire(t, s, "d", 0).Table("a", 1, 1<<30, make)
	var memory *MemoryError
	if !errors.As(err, &memory) || memory.Need != 1<<30 {
		t.Errorf("without memory: %v", err)
	}
	if u := s.Budget.Usage(); u.Loading != 0 {
		t.Errorf("%d bytes stay reserved", u.Loading)
	}
}

func TestATableStaysInMemoryIfItCannotBeWritten(t *testing.T) {
	s := openStore(t, t.TempDir())
	publish(t, s, "d", 1)
	if err := os.WriteFile(filepath.Join(s.Dir(), datasetsDir, "d", "1", derivedDir), nil,
		0o600); err != nil {
		t.Fatal(err)
	}
	h := acquire(t, s, "d", 0)
	tableOf(t, h, "a", 100)
	if _, made := tableOf(t, h, "a", 100); made {
		t.Error("it was made twice")
	}
}

func TestATableOutlivesItsDataset(t *testing.T) {
	s := openStore(t, t.TempDir())
	publish(t, s, "d", 1)
	h := acquire(t, s, "d", 0)
	content, _ := tableOf(t, h, "a", 100)
	if _, err := s.Remove("d"); err != nil {
		t.Fatal(err)
	}
	if content[50] != 'a' {
		t.Error("it is lost")
	}
	tableOf(t, h, "b", 100)
	h.Release()
	if left, err := os.ReadDir(filepath.Join(s.Dir(), datasetsDir)); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
