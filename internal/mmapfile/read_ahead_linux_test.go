package mmapfile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/portable"
)

// cold maps a file of a number of pages, and evicts it from memory if the file system can.
func cold(t *testing.T, pages int) *Map {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), pages*int(pageSize)-7),
		0o600); err != nil {
		t.Fatal(err)
	}
	m, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := m.File().Sync(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Fadvise(int(m.File().Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPopulateReadsPagesIntoMemory(t *testing.T) {
	const pages = 64
	m := cold(t, pages)
	for _, outside := range [][2]int64{{-1, 5}, {m.Len(), 1}, {1 << 62, 1 << 62}, {0, 0}, {5, -9}} {
		m.WillNeed(outside[0], outside[1])
		m.Populate(outside[0], outside[1])
	}
	if !m.Resident(-1) || !m.Resident(m.Len()) {
		t.Error("bytes outside the file are not in memory")
	}
	all := func(first, last int64) bool {
		for i := first; i <= last; i++ {
			if !m.Resident(i*pageSize + 5) {
				return false
			}
		}
		return true
	}
	m.Populate(3*pageSize-1, pageSize+2) // also the last byte of page 2 and the first one of page 4
	if !portable.Forced() && !all(2, 4) {
		t.Error("pages that were waited for are not in memory")
	}
}

func TestWillNeedPreventsMajorFaults(t *testing.T) {
	const pages = 64
	m := cold(t, pages)
	m.WillNeed(0, 1<<62)
	if n := majorFaults(t, func() {
		for at := int64(0); at < m.Len(); at += pageSize {
			if m.data[at] != 'x' {
				t.Fatal("the bytes differ")
			}
		}
	}); n > 0 {
		t.Errorf("%d pages that were asked for were read when they were used", n)
	}
}

// majorFaults returns the number of pages that do had to wait for.
func majorFaults(t *testing.T, do func()) int64 {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.Rusage
	err := unix.Getrusage(unix.RUSAGE_THREAD, &before)
	do()
	if err := errors.Join(err, unix.Getrusage(unix.RUSAGE_THREAD, &after)); err != nil {
		t.Fatal(err)
	}
	return after.Majflt - before.Majflt
}

// TestReadAheadIsOffUntilTheLastReaderEnds reads the kernel's flags of the map: rr is MADV_RANDOM.
func TestReadAheadIsOffUntilTheLastReaderEnds(t *testing.T) {
	m := cold(t, 4)
	advised := func() bool {
		maps, err := os.ReadFile("/proc/self/smaps")
		if err != nil {
			t.Fatal(err)
		}
		_, of, found := strings.Cut(string(maps), m.path)
		_, flags, _ := strings.Cut(of, "VmFlags:")
		flags, _, _ = strings.Cut(flags, "\n")
		if !found {
			t.Fatal("the map is not listed")
		}
		return strings.Contains(flags, " rr")
	}
	one, two := m.DisableReadAhead(), m.DisableReadAhead()
	one()
	one()
	if !advised() || !m.IsReadAheadOff() {
		t.Error("the advice ended with the first of two")
	}
	if two(); advised() || m.IsReadAheadOff() {
		t.Error("the advice did not end with the last")
	}
}
