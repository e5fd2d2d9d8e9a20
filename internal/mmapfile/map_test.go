package mmapfile

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestMapShowsTheFile(t *testing.T) {
	content := bytes.Repeat([]byte("abcdefgh"), 1000)
	m := mapped(t, content)
	b, err := m.Bytes(0, m.Len())
	if err != nil || !bytes.Equal(b, content) {
		t.Errorf("%d bytes, %v, want those of the file", len(b), err)
	}
	if b, err := m.Bytes(3, 5); err != nil || string(b) != "defgh" || cap(b) != 5 {
		t.Errorf("bytes 3 to 8 are %q with capacity %d, %v", b, cap(b), err)
	}
}

func TestBytesOutsideTheFileAreRefused(t *testing.T) {
	m := mapped(t, []byte("12345678"))
	for _, r := range [][2]int64{{-1, 1}, {0, -1}, {0, 9}, {8, 1}, {9, 0}, {1, math.MaxInt64},
		{math.MaxInt64, 1}, {math.MinInt64, 8}} {
		if b, err := m.Bytes(r[0], r[1]); !errors.Is(err, ErrRange) {
			t.Errorf("%d bytes from %d: got %d bytes, %v, want ErrRange", r[1], r[0], len(b), err)
		}
	}
	if _, err := m.Bytes(8, 0); err != nil {
		t.Errorf("no bytes at the end: %v", err)
	}
}

func TestMissingAndEmptyFilesCannotBeMapped(t *testing.T) {
	if _, err := Open(file(t, nil).Name()); !errors.Is(err, ErrRange) {
		t.Errorf("an empty file: got %v, want ErrRange", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: got %v, want ErrNotExist", err)
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a directory was mapped")
	}
}

func TestCloseWaitsForReadersAndRefusesNewOnes(t *testing.T) {
	m := mapped(t, []byte("read me"))
	release, err := m.Acquire()
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Bytes(0, m.Len())
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error)
	go func() { closed <- m.Close() }()
	for { // until Close has begun
		again, err := m.Acquire()
		if errors.Is(err, ErrClosed) {
			break
		}
		again()
	}
	if n := m.Readers(); n != 1 || string(b) != "read me" {
		t.Errorf("%d readers of %q, want 1", n, b)
	}
	select {
	case <-closed:
		t.Error("Close did not wait for the reader")
	default:
	}
	release()
	release() // has no effect
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if n := m.Readers(); n != 0 {
		t.Errorf("%d readers after the last release", n)
	}
}

func TestCloseIsIdempotentAndConcurrent(t *testing.T) {
	m := mapped(t, []byte("x"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if release, err := m.Acquire(); err == nil {
				release()
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if _, err := m.Acquire(); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

func TestAMapStaysValidAfterItsFileIsRemoved(t *testing.T) {
	f := file(t, []byte("still here"))
	m, err := Open(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := os.Remove(f.Name()); err != nil {
		t.Fatal(err)
	}
	if b, err := m.Bytes(0, m.Len()); err != nil || string(b) != "still here" {
		t.Errorf("%q, %v", b, err)
	}
}
