package mmapfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func openFile(t *testing.T, content string) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestNewClosesTheFile(t *testing.T) {
	f := openFile(t, "hello")
	m, err := New(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Stat(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the file was not closed: %v", err)
	}
	if b, err := m.Bytes(1, 3); err != nil || string(b) != "ell" || m.File() != nil {
		t.Errorf("%q, %v, %v", b, err, m.File())
	}
	for range 2 {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	empty := openFile(t, "")
	if _, err := New(empty); !errors.Is(err, ErrRange) {
		t.Error(err)
	}
	if _, err := empty.Stat(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the file that was refused was not closed: %v", err)
	}
}

func TestNewSharedWritesToTheFileAndRefusesShorterFiles(t *testing.T) {
	f := openFile(t, "hello")
	path := f.Name()
	w, err := NewShared(f, 5)
	if err != nil {
		t.Fatal(err)
	}
	w.Bytes()[0] = 'j'
	if b, err := os.ReadFile(path); err != nil || string(b) != "jello" {
		t.Errorf("%q, %v", b, err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	for _, size := range []int64{6, 0, -1} {
		f := openFile(t, "hello")
		if _, err := NewShared(f, size); !errors.Is(err, ErrRange) {
			t.Errorf("%d bytes: %v", size, err)
		}
		if _, err := f.Stat(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%d bytes: the file that was refused was not closed: %v", size, err)
		}
	}
}
