package store

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// derive calls DerivedFile for a text, and reports whether it was computed.
func derive(t *testing.T, s *Store, key string) (value string, computed bool) {
	t.Helper()
	h, err := s.Acquire("d", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	value, err = DerivedFile(h, key,
		func() (string, error) { computed = true; return "value of " + key, nil },
		func(v string) []byte { return []byte(v) },
		func(b []byte) (string, error) {
			if len(b) == 0 {
				return "", errors.New("nothing")
			}
			return string(b), nil
		})
	if err != nil || value != "value of "+key {
		t.Fatalf("got %q, %v", value, err)
	}
	return value, computed
}

// reopened calls derive in a store that was just opened, and reports whether the value was
// computed.
func reopened(t *testing.T, dir, key string, log *slog.Logger) bool {
	t.Helper()
	s, err := Open(dir, log)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, computed := derive(t, s, key)
	if _, again := derive(t, s, key); again {
		t.Error("it was computed twice")
	}
	return computed
}

func TestADerivedFileIsReadAgainAndReplacedIfItIsDamaged(t *testing.T) {
	dir, quiet := t.TempDir(), slog.New(slog.DiscardHandler)
	s, err := Open(dir, quiet)
	if err != nil {
		t.Fatal(err)
	}
	publish(t, s, "d", 1)
	s.Close()
	const key = "missing-a/b"
	path := filepath.Join(dir, datasetsDir, "d", "1", derivedDir, "missing-a%2Fb")
	if !reopened(t, dir, key, quiet) || reopened(t, dir, key, quiet) {
		t.Fatal("it is not computed once and then read")
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// a change of any bit of magic, format, length, digest, checksum and content is detected
	for at := range whole {
		flipped := append([]byte(nil), whole...)
		flipped[at] ^= 1 << (at % 8)
		g := &generation{store: s, dir: filepath.Join(dir, datasetsDir, "d", "1"),
			manifest: s.catalogue.published["d"][0].manifest}
		write(flipped)
		if b, err := g.readDerived(key); err == nil {
			t.Fatalf("with byte %d changed it is read: %q", at, b)
		}
		write(whole[:at])
		if b, err := g.readDerived(key); err == nil {
			t.Fatalf("cut after byte %d it is read: %q", at, b)
		}
		write(whole)
		if b, err := g.readDerived(key); err != nil || string(b) != "value of "+key {
			t.Fatalf("whole: %q, %v", b, err)
		}
		if _, err := g.readDerived(strings.ToUpper(key)); err == nil {
			t.Fatal("it is read under another key")
		}
	}
	write(whole[:len(whole)-3])
	var said strings.Builder
	if !reopened(t, dir, key, slog.New(slog.NewTextHandler(&said, nil))) ||
		!strings.Contains(said.String(), "made a derived file again") {
		t.Errorf("a torn file is used; said: %s", said.String())
	}
	if reopened(t, dir, key, quiet) {
		t.Error("it was not written again")
	}
}

func TestADirectoryThatCannotBeWrittenIsLoggedOnce(t *testing.T) {
	dir := t.TempDir()
	var said strings.Builder
	s, err := Open(dir, slog.New(slog.NewTextHandler(&said, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	publish(t, s, "d", 1)
	// a file in place of the directory, because root may write to every directory
	if err := os.WriteFile(filepath.Join(dir, datasetsDir, "d", "1", derivedDir), nil,
		0o600); err != nil {
		t.Fatal(err)
	}
	derive(t, s, "a")
	derive(t, s, "b")
	if n := strings.Count(said.String(), "cannot keep on disk"); n != 1 {
		t.Errorf("warned %d times: %s", n, said.String())
	}
	if left, err := os.ReadDir(filepath.Join(dir, tmpDir)); err != nil || len(left) > 0 {
		t.Errorf("left in tmp: %v, %v", left, err)
	}
}

func TestARemovedGenerationGetsNoDerivedFiles(t *testing.T) {
	s := openStore(t, t.TempDir())
	publish(t, s, "d", 1)
	h, err := s.Acquire("d", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	if _, err := s.Remove("d"); err != nil {
		t.Fatal(err)
	}
	_, err = DerivedFile(h, "a", func() (int, error) { return 7, nil },
		func(int) []byte { return nil }, func([]byte) (int, error) { return 0, nil })
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(s.Dir(), datasetsDir)); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// The escaped name of a column may be longer than a file name may be.
func TestADerivedFileMayHaveALongName(t *testing.T) {
	dir, quiet := t.TempDir(), slog.New(slog.DiscardHandler)
	s, err := Open(dir, quiet)
	if err != nil {
		t.Fatal(err)
	}
	publish(t, s, "d", 1)
	s.Close()
	long := "missing-" + strings.Repeat("é", 120)
	for _, key := range []string{long, long + "e"} {
		if !reopened(t, dir, key, quiet) || reopened(t, dir, key, quiet) {
			t.Errorf("%d bytes: it is not computed once and then read", len(key))
		}
	}
}
