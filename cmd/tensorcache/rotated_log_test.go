package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheLogHasThreeFiles writes as many lines as five files have, and then one into the file itself, as
// the runtime does in a crash.
func TestTheLogHasThreeFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "daemon.log")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	log := &rotatedLog{path: path, file: file}
	const size = 1 << 10
	const lines = 5 * maxLogSize / size
	for i := range lines {
		if _, err := fmt.Fprintf(log, "%-*d\n", size-1, i); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintln(file, "panic")
	all := ""
	for _, name := range []string{path + ".2", path + ".1", path} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > maxLogSize+len("panic\n") {
			t.Errorf("%s has %d bytes", name, len(b))
		}
		all += string(b)
	}
	found := strings.Fields(all)
	if len(found) != logFiles*maxLogSize/size+1 || found[len(found)-1] != "panic" {
		t.Fatalf("%d lines, at last %q", len(found), found[len(found)-1])
	}
	for i, got := range found[:len(found)-1] {
		if want := fmt.Sprint(lines - len(found) + 1 + i); got != want {
			t.Fatalf("line %d is %s, want %s", i, got, want)
		}
	}
	if left, err := filepath.Glob(path + "*"); err != nil || len(left) != logFiles {
		t.Errorf("%v, %v", left, err)
	}
}

// TestALogThatCannotBeRotatedGrows has a folder in the place of the copy.
func TestALogThatCannotBeRotatedGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "daemon.log")
	if err := os.Mkdir(path+".0", 0o700); err != nil {
		t.Fatal(err)
	}
	older := map[string]string{path + ".1": "one", path + ".2": "two"}
	for name, text := range older {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	log := &rotatedLog{path: path, file: file}
	for range 3 {
		if _, err := log.Write(bytes.Repeat([]byte{'x'}, maxLogSize)); err != nil {
			t.Fatal(err)
		}
	}
	if st, err := file.Stat(); err != nil || st.Size() < 3*maxLogSize {
		t.Errorf("%v, %v", st, err)
	}
	if b, _ := os.ReadFile(path); bytes.Count(b, []byte("rotate the log: ")) != 1 {
		t.Error("want one line about it")
	}
	for name, text := range older {
		if b, err := os.ReadFile(name); err != nil || string(b) != text {
			t.Errorf("%s has %q, %v", name, b, err)
		}
	}
}

// TestTheEndOfALargeLogIsKept begins with a log of a version that did not rotate it.
func TestTheEndOfALargeLogIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "daemon.log")
	old := append(bytes.Repeat([]byte{'x'}, 3*maxLogSize), "end\n"...)
	if err := os.WriteFile(path, old, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	fmt.Fprintln(&rotatedLog{path: path, file: file}, "new")
	if b, err := os.ReadFile(path + ".1"); err != nil || len(b) != maxLogSize || !bytes.HasSuffix(b, []byte("xend\n")) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "new\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestARemovedLogIsStartedAnew removes the file of a daemon that runs.
func TestARemovedLogIsStartedAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "daemon.log")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	log := &rotatedLog{path: path, file: file}
	for range 3 {
		if _, err := log.Write(bytes.Repeat([]byte{'x'}, maxLogSize)); err != nil {
			t.Fatal(err)
		}
	}
	if st, err := file.Stat(); err != nil || st.Size() > maxLogSize {
		t.Errorf("%v, %v", st, err)
	}
}
