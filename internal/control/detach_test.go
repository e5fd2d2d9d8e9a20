package control

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// writeScript writes a shell script and returns its path.
func writeScript(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDetachReturnsWhatADaemonThatEndsHasLogged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, LogFile), []byte("an earlier one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := writeScript(t, "echo \"$@\"; seq 30 >&2; exit 3\n")
	logged, err := logOf(t, dir, script, "serve")
	if err == nil || !strings.Contains(err.Error(), "did not start: exit status 3; from its log, "+dir) {
		t.Errorf("got %v", err)
	}
	if got := strings.Join(logged, " "); got != "11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30" {
		t.Errorf("logged %q", got)
	}
	logged, _ = logOf(t, dir, writeScript(t, "echo \"$@\"\n"), "serve")
	if len(logged) != 1 || logged[0] != "serve --ready-fd 3" {
		t.Errorf("logged %q, want what this one logged", logged)
	}
	crashed := "seq 30; echo SIGQUIT: quit; seq 30 60; kill -9 $$\n"
	logged, err = logOf(t, dir, writeScript(t, crashed))
	if got := strings.Join(logged[:2], " "); got != "SIGQUIT: quit 30" || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("logged %q, %v", logged, err)
	}
	logged, err = logOf(t, dir, writeScript(t, "exit 1\n"))
	if len(logged) != 0 || !strings.Contains(err.Error(), "exit status 1; its log is "+dir) {
		t.Errorf("logged %q, want nothing; %v", logged, err)
	}
}

// logOf detaches a program that ends, and returns what it logged.
func logOf(t *testing.T, dir, exe string, args ...string) ([]string, error) {
	t.Helper()
	_, err := Detach(t.Context(), dir, exe, args)
	var start *StartError
	if errors.As(err, &start) {
		return start.Lines, err
	}
	return nil, err
}

// TestADaemonInheritsNoDescriptors opens a lock without close-on-exec, as a shell does.
func TestADaemonInheritsNoDescriptors(t *testing.T) {
	fd, err := unix.Open(filepath.Join(t.TempDir(), "lock"), unix.O_CREAT|unix.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	logged, _ := logOf(t, t.TempDir(), writeScript(t, "ls -l /dev/fd/\n"))
	if len(logged) == 0 || strings.Contains(strings.Join(logged, " "), "/lock") {
		t.Errorf("it has %q", logged)
	}
}

func TestDetachKillsADaemonThatIsNotWantedAnyMore(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	script := writeScript(t, "echo $$ > "+pipe+"\nexec sleep 600\n")
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := Detach(ctx, t.TempDir(), script, nil)
		failed <- err
	}()
	b, err := os.ReadFile(pipe)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	_, err = os.Stat("/proc/" + strings.TrimSpace(string(b)))
	if _, noProc := os.Stat("/proc/self"); noProc == nil && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it lives: %v", err)
	}
}

func TestConnectingEndsWithTheContextAndTellsTheProgram(t *testing.T) {
	dir := t.TempDir()
	pipe, told := filepath.Join(dir, "pipe"), filepath.Join(dir, "told")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	script := writeScript(t, "trap 'echo term > "+told+"; exit 1' TERM\necho > "+pipe+
		"\nwhile :; do sleep 0.01; done\n")
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := ConnectWith(ctx, dir, func() (string, error) { return script, nil })
		failed <- err
	}()
	if _, err := os.ReadFile(pipe); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if b, err := os.ReadFile(told); err != nil || string(b) != "term\n" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestAProgramThatFailsIsQuoted(t *testing.T) {
	script := writeScript(t, "echo the reason >&2; exit 1\n")
	_, err := ConnectWith(t.Context(), t.TempDir(), func() (string, error) { return script, nil })
	if !errors.Is(err, ErrNoDaemon) || !strings.HasSuffix(err.Error(), "\nthe reason") {
		t.Errorf("got %v", err)
	}
	_, err = ConnectWith(t.Context(), t.TempDir(), func() (string, error) { return "/nowhere", nil })
	if !errors.Is(err, syscall.ENOENT) {
		t.Errorf("got %v", err)
	}
}
