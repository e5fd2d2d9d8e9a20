package mmapfile

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/testwait"
)

// inMemory compares InMemory with the results of mincore before and after it, and returns it. The
// kernel may drop pages at any time.
func inMemory(t *testing.T, m *Map) int64 {
	t.Helper()
	byPage := func() int64 {
		pages, err := countByMincore(m.File())
		if err != nil {
			t.Fatal(err)
		}
		return min(pages*pageSize, m.Len())
	}
	before := byPage()
	n, err := InMemory(m.File())
	if err != nil {
		t.Fatal(err)
	}
	if after := byPage(); n < min(before, after) || n > max(before, after) {
		t.Errorf("%d bytes are in memory by the kernel's count, %d and %d page by page", n, before,
			after)
	}
	return n
}

// smaps returns a value of /proc/self/smaps about the map, in bytes.
func smaps(t *testing.T, m *Map, name string) (sum int64) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	ours := false
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		switch {
		case !strings.HasSuffix(f[0], ":"):
			ours = strings.HasSuffix(strings.TrimSpace(line), m.path)
		case ours && f[0] == name+":":
			kib, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += kib << 10
		}
	}
	return sum
}

func TestInMemoryEqualsTheCountOfTheKernel(t *testing.T) {
	const pages = 1000
	m := cold(t, pages)
	cold := inMemory(t, m)
	if cold == m.Len() {
		t.Skip("the file system keeps its files in memory")
	}
	end := m.DisableReadAhead() // do not read ahead
	testwait.Until(t, "51 pages are in memory", func() bool {
		err := errors.Join(m.Evict(), m.Read(100*pageSize+1, 50*pageSize))
		return err == nil && inMemory(t, m) == cold+51*pageSize
	})
	end()
	testwait.Until(t, "all pages are in memory", func() bool { return m.Read(0, m.Len()) == nil && inMemory(t, m) == m.Len() })
	before := inMemory(t, m)
	if fincore, err := exec.Command("fincore", "-b", "-n", "-o", "RES",
		m.path).Output(); err == nil {
		got, err := strconv.ParseInt(strings.TrimSpace(string(fincore)), 10, 64)
		if after := inMemory(t, m); err != nil || got < after || got > before+pageSize {
			t.Errorf("fincore says %s bytes, we say %d before and %d after", fincore, before, after)
		}
	}
	if err := m.Evict(); err != nil {
		t.Fatal(err)
	}
	if n, rss := inMemory(t, m), smaps(t, m, "Rss"); n != 0 || rss != 0 {
		t.Errorf("%d bytes are in memory and %d mapped after Evict", n, rss)
	}
	if b, err := m.Bytes(5*pageSize, 3); err != nil || string(b) != "xxx" {
		t.Errorf("then %q is read, %v", b, err)
	}
}

func TestPagesOfAnotherMapAreNotEvicted(t *testing.T) {
	m := cold(t, 100)
	other, err := Open(m.path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	testwait.Until(t, "the pages of the other map stay", func() bool {
		err := errors.Join(m.Read(0, m.Len()), other.Read(0, 10*pageSize))
		sum := byte(0)
		for i := range int64(10) {
			sum += other.data[i*pageSize]
		}
		runtime.KeepAlive(sum)
		err = errors.Join(err, m.Evict())
		return err == nil && inMemory(t, m) >= 10*pageSize
	})
}

func neverStop() error { return nil }

func TestALockedFileStaysInMemory(t *testing.T) {
	m := cold(t, 300)
	locked, err := m.Lock(neverStop)
	if err != nil || locked != m.Len() {
		t.Fatalf("%d of %d bytes are locked, %v", locked, m.Len(), err)
	}
	if kernel := smaps(t, m, "Locked"); kernel-locked < 0 || kernel-locked >= pageSize {
		t.Errorf("%d bytes are locked by the kernel's count, %d by ours", kernel, locked)
	}
	if err := m.Evict(); err != nil {
		t.Fatal(err)
	}
	if n := inMemory(t, m); n != m.Len() {
		t.Errorf("%d of %d bytes stay", n, m.Len())
	}
	if err := m.Unlock(); err != nil {
		t.Fatal(err)
	}
	if kernel := smaps(t, m, "Locked"); kernel != 0 {
		t.Errorf("%d bytes are locked after Unlock", kernel)
	}
}

// TestMemoryIsLockedUpToTheLimit runs itself in a process without the right to lock more.
func TestMemoryIsLockedUpToTheLimit(t *testing.T) {
	const variable = "TENSORCACHE_TEST_MEMLOCK"
	if os.Getenv(variable) == "" {
		if os.Getuid() != 0 {
			t.Skip("only root can take the right away from a child")
		}
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), variable+"=1")
		if out, err := cmd.CombinedOutput(); err != nil ||
			!strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	m := cold(t, 300)
	runtime.LockOSThread() // without unlock, so that the thread ends with the test
	const limit = 100 << 10
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK,
		&unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		t.Fatal(err)
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&head, &none[0]); err != nil { // of this thread only
		t.Fatal(err)
	}
	locked, err := m.Lock(neverStop)
	if !errors.Is(err, unix.ENOMEM) || locked > limit || locked < limit*3/4 {
		t.Errorf("%d bytes are locked of %d allowed, %v", locked, limit, err)
	}
}

func TestLockStopsOnAnError(t *testing.T) {
	enough := errors.New("enough")
	if locked, err := cold(t, 3).Lock(func() error { return enough }); err != enough ||
		locked != 0 {
		t.Errorf("%d bytes are locked, %v", locked, err)
	}
}

func TestReadingATruncatedFileIsAnError(t *testing.T) {
	f := file(t, bytes.Repeat([]byte("x"), 3*int(pageSize)))
	m, err := Open(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := f.Truncate(pageSize); err != nil {
		t.Fatal(err)
	}
	if err := m.Read(0, m.Len()); !errors.Is(err, ErrLost) ||
		!strings.HasPrefix(err.Error(), f.Name()+": no byte ") {
		t.Errorf("got %v", err)
	}
}
