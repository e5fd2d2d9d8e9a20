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

// lockDirectory takes daemon.lock, as a daemon does.
func lockDirectory(t *testing.T, dir string) *os.File {
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

func TestConnectingWaitsForADaemonThatStarts(t *testing.T) {
	dir := t.TempDir()
	lockDirectory(t, dir)
	done := make(chan error)
	go func() {
		c, err := waitForDaemon(t.Context(), dir)
		if err == nil {
			c.Close()
		}
		done <- err
	}()
	fakeDaemon(t, dir,
		func(w http.ResponseWriter,
			_ *http.Request) {
			respond(w, 200, wire.Health{Protocols: wire.OwnProtocols})
		})
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestConnectingWaitsForADaemonThatStops(t *testing.T) {
	dir := t.TempDir()
	f := lockDirectory(t, dir)
	done := make(chan error)
	go func() {
		_, err := waitForDaemon(t.Context(), dir)
		done <- err
	}()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, ErrNoDaemon) {
		t.Errorf("got %v, want ErrNoDaemon", err)
	}
}

func TestTheProtocolOfADeadDaemonDoesNotMatter(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteDaemon(dir, wire.Daemon{PID: 7, Version: "9.9", Protocols: wire.Protocols{Newest: 9},
		Control: filepath.Join(dir, "control.sock")}); err != nil {
		t.Fatal(err)
	}
	if _, err := Connect(dir, false); !errors.Is(err, ErrNoDaemon) {
		t.Errorf("got %v, want ErrNoDaemon", err)
	}
}

// TestAnotherProgramMayStartADaemonFirst starts a program that finds the directory locked, as if a
// service manager had started a daemon meanwhile.
func TestAnotherProgramMayStartADaemonFirst(t *testing.T) {
	dir, served := t.TempDir(), t.TempDir()
	fakeDaemon(t, served,
		func(w http.ResponseWriter,
			_ *http.Request) {
			respond(w, 200, wire.Health{Protocols: wire.OwnProtocols})
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
