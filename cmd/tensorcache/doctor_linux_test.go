package main

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// TestDoctorRemovesNothingOfOthers checks the findings about a daemon whose files another user may
// not read or reach, with every file in turn.
func TestDoctorRemovesNothingOfOthers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can act as another user")
	}
	for _, closed := range []string{"", control.DaemonFile, "control.sock"} {
		dir, err := os.MkdirTemp("", "doctor")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		socket := filepath.Join(dir, "control.sock")
		l, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := control.WriteDaemon(dir, wire.Daemon{PID: os.Getpid(), Version: "test",
			Protocols: wire.OwnProtocols, Control: socket}); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"", control.DaemonFile, "control.sock"} {
			mode := os.FileMode(0o755)
			if name == closed {
				mode = 0o700
			}
			if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
				t.Fatal(err)
			}
		}
		var f finding
		asNobody(t, func() { _, f = checkDaemon(t.Context(), dir) })
		checkFinding(t, f, stateFail, "permission denied")
		if strings.Contains(f.Fix, "remove") || !strings.Contains(f.Fix, "--dir") {
			t.Errorf("%q closed: remedy %q, want another directory", closed, f.Fix)
		}
	}
}

// asNobody calls f on a thread that has the file permissions of another user.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, err := unix.SetfsuidRetUid(65534); err != nil {
		t.Fatal(err)
	}
	defer unix.SetfsuidRetUid(0) //nolint:errcheck // root may
	f()
}
