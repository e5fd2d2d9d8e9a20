package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/machine"
	"github.com/tensorcache/tensorcache/internal/testseed"
	"github.com/tensorcache/tensorcache/layout"
)

// A dataset of bigRows rows has about 4 MiB.
const (
	bigRows = 1 << 20
	mib     = 1 << 20
)

// bigStore opens a store on a file system that can evict pages.
func bigStore(t *testing.T) *Store {
	t.Helper()
	dir := t.TempDir()
	if f, err := machine.FilesystemOf(dir); err != nil || f.Kind == machine.Memory {
		t.Skip("the file system keeps its files in memory", err)
	}
	return openStore(t, dir)
}

// big publishes a dataset of bigRows rows.
func big(t *testing.T, s *Store, name string) int64 {
	t.Helper()
	l, err := s.Begin(name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Abort()
	w, err := layout.Create(l.Dir,
		layout.Table{Rows: bigRows,
			Columns: []layout.Column{{Name: "a", Role: layout.RoleValue, DType: layout.Float32}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(
		layout.Final{Items: layout.Items{Offsets: []int64{0, bigRows}}}); err != nil {
		t.Fatal(err)
	}
	n, err := l.Publish()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// resident returns how many bytes of a dataset are in memory now. It compares the store's count
// with that of the kernel.
func resident(t *testing.T, s *Store, name string) int64 {
	t.Helper()
	s.catalogue.mu.Lock()
	g, err := s.catalogue.find(name, 0)
	s.catalogue.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	n, err := g.inMemory(0)
	if err != nil {
		t.Fatal(err)
	}
	kernel := int64(0)
	for file := range g.manifest.Files {
		out, err := exec.Command("fincore", "-b", "-n", "-o", "RES",
			filepath.Join(g.dir, file)).Output()
		if err != nil {
			return n // util-linux is not installed
		}
		bytes, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		kernel += bytes
	}
	if !agree(n, kernel) {
		t.Errorf("%d bytes of %s are in memory by our count, %d by fincore", n, name, kernel)
	}
	return n
}

// agree reports whether two numbers of bytes differ by at most 1 % and two pages, because files end
// within a page, and a system that is short of memory evicts single pages by itself.
func agree(a, b int64) bool { return max(a, b)-min(a, b) <= max(a, b)/100+8192 }

func bytesIn(t *testing.T, s *Store, name string) int64 {
	t.Helper()
	i, err := s.Dataset(name)
	if err != nil {
		t.Fatal(err)
	}
	return i.Bytes()
}

// locked returns how many bytes of the files in a directory are locked, by the count of the kernel.
func locked(t *testing.T, dir string) (sum int64) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	ours := false
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if !strings.HasSuffix(f[0], ":") {
			ours = strings.Contains(line, dir)
		} else if ours && f[0] == "Locked:" {
			kib, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += kib << 10
		}
	}
	return sum
}

func touch(t *testing.T, s *Store, name string) {
	t.Helper()
	h, err := s.Acquire(name, 0)
	if err != nil {
		t.Fatal(err)
	}
	h.Release()
}

func TestADatasetIsUnloadedAndPreloaded(t *testing.T) {
	s := bigStore(t)
	big(t, s, "x")
	if n := resident(t, s, "x"); !agree(n, bytesIn(t, s, "x")) {
		t.Errorf("%d bytes are in memory just after the load", n)
	}
	for range 2 { // unmapped, then mapped
		r, readers, err := s.Unload("x")
		if err != nil || readers != 0 || r.Resident != 0 || !r.Known || resident(t, s, "x") != 0 {
			t.Errorf("%+v with %d readers, %v, after unload", r, readers, err)
		}
		var calls []int64
		i, err := s.Preload(t.Context(), "x",
			func(done, total int64) { calls = append(calls, done, total) })
		if err != nil || i.Generation != 1 {
			t.Fatal(i, err)
		}
		all := bytesIn(t, s, "x")
		if shown, err := s.Dataset("x"); err != nil || !agree(shown.Memory.Resident, all) {
			t.Errorf("%d of %d bytes are shown to be in memory just after a preload, %v",
				shown.Memory.Resident, all, err)
		}
		if n := resident(t, s, "x"); !agree(n, all) || calls[len(calls)-2] != all ||
			calls[1] != all {
			t.Errorf("%d of %d bytes are in memory after a preload with progress %d", n, all, calls)
		}
	}
	if _, err := s.Preload(t.Context(), "y", nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, _, err := s.Unload("y"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if _, err := s.Preload(ctx, "x", nil); err != enough {
		t.Errorf("got %v", err)
	}
}

func TestALoadEvictsUnreadGenerationsLeastRecentlyUsedFirst(t *testing.T) {
	s := bigStore(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		big(t, s, name)
	}
	held := acquire(t, s, "a", 0) // the oldest use of all
	for _, name := range []string{"c", "b", "d"} {
		touch(t, s, name)
	}
	all := bytesIn(t, s, "a")
	s.Budget.Set(4*all + 2*mib)
	defer s.Budget.AddRing(mib)()
	release, err := s.Budget.ReserveLoad("new", mib)
	if err != nil {
		t.Fatal(err)
	}
	holds := func(want map[string]int64) {
		t.Helper()
		for name, n := range want {
			if got := resident(t, s, name); !agree(got, n) {
				t.Errorf("%d bytes of %s are in memory, want %d", got, name, n)
			}
		}
	}
	holds(map[string]int64{"a": all, "b": all, "c": all, "d": all})
	second, err := s.Budget.ReserveLoad("new", all+all/2) // more than c has
	if err != nil {
		t.Fatal(err)
	}
	holds(map[string]int64{"a": all, "b": 0, "c": 0, "d": all})
	var refused *MemoryError
	if _, err := s.Budget.ReserveLoad("new", 2*all); !errors.As(err, &refused) ||
		!errors.Is(err, ErrMemory) || refused.Need != 2*all ||
		!agree(refused.Have, 4*all-(all+all/2)-all) {
		t.Fatalf("got %v: %+v", err, refused)
	}
	if text := refused.Error(); text != "loading new needs 8.0 MiB, the memory budget has 6.0 MiB left of 18 MiB" {
		t.Error(text)
	}
	holds(map[string]int64{"a": all, "d": all}) // a refused load evicts nothing
	second()
	second()
	release()
	held.Release()
	if m := s.Budget.Usage(); m.Loading != 0 || m.Rings != mib || m.Budget != 4*all+2*mib ||
		m.Pinned != 0 {
		t.Errorf("%+v", m)
	}
	if _, err := s.Budget.ReserveLoad("new", 4*all+mib); err != nil { // now nothing is in use
		t.Error(err)
	}
	holds(map[string]int64{"a": 0, "d": 0})
}

// TestMemoryStaysWithinTheBudget runs loads, readers and preloads in a random order, and compares
// the memory of all generations with the budget.
func TestMemoryStaysWithinTheBudget(t *testing.T) {
	random := rand.New(rand.NewPCG(testseed.Seed(), 0))
	s := bigStore(t)
	big(t, s, "probe")
	all := bytesIn(t, s, "probe")
	budget := 3*all + all/2
	s.Budget.Set(budget)
	names := []string{"a", "b", "c", "d"}
	holds := map[string]*Handle{}
	for range 40 {
		name := names[random.IntN(len(names))]
		switch random.IntN(4) {
		case 0, 1:
			release, err := s.Budget.ReserveLoad(name, all)
			if err != nil {
				if !errors.Is(err, ErrMemory) || len(holds) < 3 {
					t.Fatalf("refused with %d readers: %v", len(holds), err)
				}
				continue
			}
			big(t, s, name)
			release()
			sum := int64(0)
			s.catalogue.mu.Lock()
			every := s.catalogue.all()
			s.catalogue.mu.Unlock()
			for _, g := range every {
				n, _ := g.inMemory(0)
				sum += n
			}
			if sum > budget {
				t.Fatalf("%d bytes are in memory, the budget is %d", sum, budget)
			}
		case 2:
			if h, err := s.Acquire(name, 0); err == nil && holds[name] == nil {
				holds[name] = h
				if _, err := s.Preload(t.Context(), name, func(_, _ int64) {}); err != nil &&
					!errors.Is(err, ErrMemory) {
					t.Fatal(err)
				}
			} else if err == nil {
				h.Release()
			}
		case 3:
			if h := holds[name]; h != nil {
				h.Release()
				delete(holds, name)
			}
		}
	}
	for _, h := range holds {
		h.Release()
	}
}
