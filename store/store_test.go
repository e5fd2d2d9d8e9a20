package store

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/tensorcache/tensorcache/layout"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// openStore opens a store. When the test ends it closes the store and checks that no temporary file
// and no map is left.
func openStore(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		left, err := os.ReadDir(filepath.Join(dir, tmpDir))
		if err != nil || len(left) > 0 {
			t.Errorf("left in tmp: %v, %v", left, err)
		}
		maps, err := os.ReadFile("/proc/self/maps")
		if err == nil && strings.Contains(string(maps), dir) {
			t.Errorf("still mapped: %s", maps)
		}
	})
	return s
}

// write writes a generation of three rows of one column.
func write(t *testing.T, l *Staging, value float32) {
	t.Helper()
	w, err := layout.Create(l.Dir,
		layout.Table{Rows: 3,
			Columns: []layout.Column{{Name: "a", Role: layout.RoleValue, DType: layout.Float32}}})
	if err != nil {
		t.Fatal(err)
	}
	layout.Values[float32](w.Column(0, layout.Random)).Data[1] = value
	if _, err := w.Finish(layout.Final{Items: layout.Items{Offsets: []int64{0, 3}}}); err != nil {
		t.Fatal(err)
	}
}

func publish(t *testing.T, s *Store, name string, value float32) int64 {
	t.Helper()
	l, err := s.Begin(name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Abort()
	write(t, l, value)
	n, err := l.Publish()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func read(t *testing.T, h *Handle) float32 {
	t.Helper()
	c, err := h.Data.Manifest.Column("a")
	if err != nil {
		t.Fatal(err)
	}
	v, err := layout.View[float32](h.Data, c)
	if err != nil {
		t.Fatal(err)
	}
	return v.Data[1]
}

func acquire(t *testing.T, s *Store, name string, number int64) *Handle {
	t.Helper()
	h, err := s.Acquire(name, number)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Release)
	return h
}

func TestAHandleStaysOnItsGeneration(t *testing.T) {
	s := openStore(t, t.TempDir())
	publish(t, s, "x", 1)
	old := acquire(t, s, "x", 0)
	if n := publish(t, s, "x", 2); n != 2 {
		t.Fatalf("the second load is generation %d", n)
	}
	if got := read(t, old); got != 1 {
		t.Errorf("the old handle reads %v, want 1", got)
	}
	if got := read(t, acquire(t, s, "x", 0)); got != 2 {
		t.Errorf("a new handle reads %v, want 2", got)
	}
	if got := read(t, acquire(t, s, "x", 1)); got != 1 {
		t.Errorf("generation 1 reads %v while it has a reader, want 1", got)
	}
}

func TestTheLastReaderRemovesASupersededGeneration(t *testing.T) {
	s := openStore(t, t.TempDir())
	publish(t, s, "x", 1)
	a, b := acquire(t, s, "x", 0), acquire(t, s, "x", 0)
	publish(t, s, "x", 2)
	a.Release()
	a.Release()
	if _, err := os.Stat(b.g.dir); err != nil {
		t.Fatalf("it was removed while it had a reader: %v", err)
	}
	dir := b.g.dir
	b.Release()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("it stayed without readers: %v", err)
	}
	if _, err := s.Acquire("x", 1); !errors.Is(err, ErrGone) {
		t.Errorf("got %v, want ErrGone", err)
	}
}

func TestRemoveLeavesHandlesValid(t *testing.T) {
	s := openStore(t, t.TempDir())
	publish(t, s, "x", 1)
	h := acquire(t, s, "x", 0)
	if n, err := s.Remove("x"); err != nil || !slices.Equal(n.Generations, []int64{1}) {
		t.Fatalf("removed %v, %v", n, err)
	}
	if _, err := s.Acquire("x", 0); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if got := read(t, h); got != 1 {
		t.Errorf("the handle reads %v, want 1", got)
	}
	if n := publish(t, s, "x", 3); n != 2 {
		t.Errorf("generation %d has the number of a generation that is still read", n)
	}
}

func TestOpenRemovesFilesOfKilledLoadsAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	publish(t, s, "x", 1)
	l, err := s.Begin("x")
	if err != nil {
		t.Fatal(err)
	}
	write(t, l, 9) // never published
	keep := filepath.Join(dir, datasetsDir, "x", "notes.txt")
	if err := os.WriteFile(keep, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, dir)
	if _, err := os.Stat(l.Dir); !os.IsNotExist(err) {
		t.Errorf("the unfinished load is still there: %v", err)
	}
	if _, err := os.Stat(keep); err != nil {
		t.Error(err)
	}
	if got := read(t, acquire(t, s, "x", 0)); got != 1 {
		t.Errorf("reads %v after a restart, want 1", got)
	}
}

func TestAnIncompleteLoadIsNotPublished(t *testing.T) {
	s := openStore(t, t.TempDir())
	l, err := s.Begin("x")
	if err != nil {
		t.Fatal(err)
	}
	write(t, l, 1)
	if err := os.Truncate(filepath.Join(l.Dir, layout.DataFile), 64); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Publish(); !errors.Is(err, layout.ErrTorn) {
		t.Errorf("got %v, want ErrTorn", err)
	}
	if err := l.Abort(); err != nil {
		t.Error(err)
	}
	if _, err := s.Dataset("x"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestOneStoreOnlyLocksADirectory(t *testing.T) {
	dir := t.TempDir()
	openStore(t, dir)
	_, err := Open(dir, slog.New(slog.DiscardHandler))
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "pid") {
		t.Errorf("got %v, want ErrLocked that names the process", err)
	}
}

// reboot changes a generation as if the machine was started after it was written, and removes the
// mark of the sync.
func reboot(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, layout.ManifestFile)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b = []byte(strings.Replace(string(b), layout.BootID(), "another boot", 1))
	b = regexp.MustCompile(`(?m)^ "xxh64": .*\n`).ReplaceAll(b, nil) // the checksum of this text
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, layout.SyncedFile)); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

func TestAfterARebootAnUnsyncedGenerationIsVerified(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		dir := t.TempDir()
		s := openStore(t, dir)
		publish(t, s, "x", 1)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		generation := s.dir.generation("x", 1)
		reboot(t, generation)
		if damaged {
			m, err := layout.ReadManifest(generation)
			if err != nil {
				t.Fatal(err)
			}
			f, err := os.OpenFile(filepath.Join(generation, layout.DataFile), os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteAt(make([]byte, 12), m.Columns[0].Offset); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		s = openStore(t, dir)
		h, err := s.Acquire("x", 0)
		if damaged != errors.Is(err, layout.ErrChecksum) || damaged != (err != nil) {
			t.Errorf("damaged %v: got %v", damaged, err)
		}
		if err == nil {
			h.Release()
		}
		if _, err := os.Stat(
			filepath.Join(generation, layout.SyncedFile)); damaged != os.IsNotExist(err) {
			t.Errorf("damaged %v: mark of the sync: %v",
				damaged, err)
		}
	}
}

func TestReadersAndLoadsAtOnce(t *testing.T) {
	s := openStore(t, t.TempDir())
	publish(t, s, "x", 1)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				h, err := s.Acquire("x", 0)
				if err != nil {
					t.Error(err)
					return
				}
				if got := read(t, h); got < 1 {
					t.Errorf("reads %v", got)
				}
				h.Release()
			}
		})
	}
	for i := range 20 {
		publish(t, s, "x", float32(i+2))
	}
	wg.Wait()
	info, err := s.Dataset("x")
	if err != nil || info.Generation != 21 || len(info.Generations) != 1 || info.Readers != 0 {
		t.Errorf("%+v, %v: want generation 21 alone, without readers", info, err)
	}
}

func TestSimilarNamesAreListed(t *testing.T) {
	s := openStore(t, t.TempDir())
	publish(t, s, "etth1", 1)
	publish(t, s, "weather", 1)
	if _, err := s.Acquire("ettj1", 0); !errors.Is(err, ErrNotFound) ||
		!strings.Contains(err.Error(), "near: etth1") || strings.Contains(err.Error(), "weather") {
		t.Errorf("got %v, want ErrNotFound with etth1 near", err)
	}
	if _, err := s.Begin("../x"); !errors.Is(err, layout.ErrName) {
		t.Errorf("got %v, want ErrName", err)
	}
}

func TestPublishAfterRefusesAnOldGeneration(t *testing.T) {
	s := openStore(t, t.TempDir())
	first := publish(t, s, "x", 1)
	after := func(number int64) (int64, error) {
		t.Helper()
		l, err := s.Begin("x")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Abort()
		write(t, l, 9)
		return l.PublishAfter(number)
	}
	if n, err := after(first); n != 2 || err != nil {
		t.Errorf("after the newest: %d, %v", n, err)
	}
	if _, err := after(first); !errors.Is(err, ErrSuperseded) {
		t.Errorf("after an older one: %v", err)
	}
	if _, err := s.Remove("x"); err != nil {
		t.Fatal(err)
	}
	if _, err := after(2); !errors.Is(err, ErrSuperseded) {
		t.Errorf("after one that was removed: %v", err)
	}
	if d := s.Datasets(); len(d) != 0 {
		t.Errorf("%+v", d)
	}
}

func TestRemovingAGenerationWithoutFilesLeavesNoFiles(t *testing.T) {
	s := openStore(t, t.TempDir())
	publish(t, s, "x", 1)
	if err := os.RemoveAll(s.catalogue.published["x"][0].dir); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remove("x"); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(s.dir.path, tmpDir)); err != nil || len(left) != 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
