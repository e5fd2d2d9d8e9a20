package control

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// hold takes the directory as a daemon does.
func hold(t *testing.T, dir string) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "daemon.lock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestADaemonThatComesIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	hold(t, dir)
	done := make(chan error)
	go func() {
		c, err := settle(t.Context(), dir)
		if err == nil {
			c.Close()
		}
		done <- err
	}()
	daemon(t, dir,
		func(w http.ResponseWriter,
			_ *http.Request) {
			answer(w, 200, wire.Health{Protocol: wire.Protocol})
		})
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestADaemonThatGoesIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	f := hold(t, dir)
	done := make(chan error)
	go func() {
		_, err := settle(t.Context(), dir)
		done <- err
	}()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, ErrNoDaemon) {
		t.Errorf("got %v, want ErrNoDaemon", err)
	}
}

func TestWhatADeadDaemonSpokeIsNoMatter(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteDaemon(dir, wire.Daemon{PID: 7, Version: "9.9", Protocol: 9,
		Control: filepath.Join(dir, "control.sock")}); err != nil {
		t.Fatal(err)
	}
	if _, err := Connect(dir, false); !errors.Is(err, ErrNoDaemon) {
		t.Errorf("got %v, want ErrNoDaemon", err)
	}
}

// TestWhoStartsOneWithoutTheLockMayBeFirst starts a program that finds the directory taken, as a
// service manager's daemon does it.
func TestWhoStartsOneWithoutTheLockMayBeFirst(t *testing.T) {
	dir, served := t.TempDir(), t.TempDir()
	daemon(t, served,
		func(w http.ResponseWriter,
			_ *http.Request) {
			answer(w, 200, wire.Health{Protocol: wire.Protocol})
		})
	slower := filepath.Join(t.TempDir(), "slower")
	script := fmt.Sprintf("#!/bin/sh\ncp %q %q\nexit 1\n", filepath.Join(served, DaemonFile), dir)
	if err := os.WriteFile(slower, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := ConnectWith(t.Context(), dir, func() (string, error) { return slower, nil })
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}
