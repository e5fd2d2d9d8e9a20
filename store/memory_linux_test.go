package store

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tensorcache/tensorcache/internal/machine"
	"github.com/tensorcache/tensorcache/internal/testlog"
	"github.com/tensorcache/tensorcache/internal/testseed"
	"github.com/tensorcache/tensorcache/internal/testwait"
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
// with those of the kernel before and after it, because the kernel may drop pages at any time.
func resident(t *testing.T, s *Store, name string) int64 {
	t.Helper()
	s.catalogue.mu.Lock()
	g, err := s.catalogue.find(name, 0)
	s.catalogue.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	before, installed := fincore(t, g)
	n, err := g.inMemory(0)
	if err != nil {
		t.Fatal(err)
	}
	after, _ := fincore(t, g)
	slack := int64(len(g.manifest.Files) * os.Getpagesize()) // files end within a page
	if installed && (n > max(before, after) || n < min(before, after)-slack) {
		t.Errorf("%d bytes of %s are in memory by our count, %d and %d by fincore", n, name, before,
			after)
	}
	return n
}

// fincore returns how many bytes of a generation are in memory by the kernel's count, unless
// util-linux is not installed.
func fincore(t *testing.T, g *generation) (sum int64, installed bool) {
	t.Helper()
	for file := range g.manifest.Files {
		out, err := exec.Command("fincore", "-b", "-n", "-o", "RES",
			filepath.Join(g.dir, file)).Output()
		if err != nil {
			return 0, false
		}
		bytes, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += bytes
	}
	return sum, true
}

// agree reports whether two numbers of bytes differ by at most 1 % and two pages, because files end
// within a page.
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
	if n := resident(t, s, "x"); n == 0 || n > bytesIn(t, s, "x") {
		t.Errorf("%d bytes are in memory just after the load", n)
	}
	for range 2 { // unmapped, then mapped
		r, readers, err := s.Unload("x")
		if err != nil || readers != 0 || r.Resident != 0 || !r.Known || resident(t, s, "x") != 0 {
			t.Errorf("%+v with %d readers, %v, after unload", r, readers, err)
		}
		all := bytesIn(t, s, "x")
		testwait.Until(t, "all is in memory after a preload", func() bool {
			var calls []int64
			i, err := s.Preload(t.Context(), "x",
				func(done, total int64) { calls = append(calls, done, total) })
			if err != nil || i.Generation != 1 || calls[len(calls)-2] != all || calls[1] != all {
				t.Fatal(i, err, calls)
			}
			shown, err := s.Dataset("x")
			if err != nil {
				t.Fatal(err)
			}
			return agree(shown.Memory.Resident, all) && agree(resident(t, s, "x"), all)
		})
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

// TestALoadEvictsUnreadGenerationsLeastRecentlyUsedFirst checks the order in the log. The kernel may
// drop pages itself; then the store evicts fewer generations.
func TestALoadEvictsUnreadGenerationsLeastRecentlyUsedFirst(t *testing.T) {
	s := bigStore(t)
	var log testlog.Buffer
	s.Budget.log = slog.New(slog.NewTextHandler(&log, nil))
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
	evicts := func(order ...string) {
		t.Helper()
		var evicted []string
		for _, record := range strings.SplitAfter(log.String(), "dataset=")[1:] {
			evicted = append(evicted, record[:1])
			if n := resident(t, s, record[:1]); n != 0 {
				t.Errorf("%d bytes of %s are in memory after it was evicted", n, record[:1])
			}
		}
		rest := order
		for _, name := range evicted {
			i := slices.Index(rest, name)
			if i < 0 {
				t.Errorf("%v were evicted, want %v or fewer of them", evicted, order)
				break
			}
			rest = rest[i+1:]
		}
		sum := int64(0)
		for _, name := range []string{"a", "b", "c", "d"} {
			sum += resident(t, s, name)
		}
		if m := s.Budget.Usage(); sum+m.Loading+m.Rings > m.Budget {
			t.Errorf("%d bytes are in memory beside %+v", sum, m)
		}
	}
	release, err := s.Budget.ReserveLoad("new", mib)
	if err != nil {
		t.Fatal(err)
	}
	evicts()
	second, err := s.Budget.ReserveLoad("new", all+all/2) // more than c has
	if err != nil {
		t.Fatal(err)
	}
	evicts("c", "b")
	before := log.String()
	var refused *MemoryError
	if _, err := s.Budget.ReserveLoad("new", 2*all+3*mib); !errors.As(err, &refused) ||
		!errors.Is(err, ErrMemory) || refused.Need != 2*all+3*mib ||
		refused.Have < 4*all-(all+all/2)-all || refused.Budget != 4*all+2*mib {
		t.Fatalf("got %v: %+v", err, refused)
	}
	if log.String() != before {
		t.Error("a refused load evicts something")
	}
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
	for _, name := range []string{"a", "b", "c", "d"} {
		if n := resident(t, s, name); n != 0 {
			t.Errorf("%d bytes of %s are in memory", n, name)
		}
	}
}

func TestAMemoryErrorHasSizesOfItsParts(t *testing.T) {
	err := &MemoryError{What: "loading x", Need: 8 * mib, Have: 6 * mib, Budget: 18 * mib}
	const want = "loading x needs 8.0 MiB, the memory budget has 6.0 MiB left of 18 MiB"
	if err.Error() != want {
		t.Error(err)
	}
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
