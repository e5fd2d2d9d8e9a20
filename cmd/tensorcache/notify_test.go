package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestTheServiceManagerIsNotifiedWhenTheDaemonListens listens on a socket as systemd does for
// services of Type=notify.
func TestTheServiceManagerIsNotifiedWhenTheDaemonListens(t *testing.T) {
	short, err := os.MkdirTemp("", "notify") // the path of t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(short) })
	path := filepath.Join(short, "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	dir := t.TempDir()
	d := startFaulty(t, dir, "", os.Args[0], "serve", "--dir", dir, "--ready-fd", "3")
	message := make([]byte, 64)
	if err := manager.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if n, err := manager.Read(message); err != nil || string(message[:n]) != "READY=1" {
		t.Errorf("it says %q, %v", message[:n], err)
	}
	d.stop()
	if n, err := manager.Read(message); err != nil || string(message[:n]) != "STOPPING=1" {
		t.Errorf("it says %q at its end, %v", message[:n], err)
	}

	other := t.TempDir()
	startFaulty(t, other, "", os.Args[0], "serve", "--dir", other, "--ready-fd", "3", "--auto").
		stop()
	// The deadline is not in the past: then a read would return nothing, even if there is a
	// message.
	if err := manager.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := manager.Read(message); err == nil {
		t.Errorf("a client's daemon says %q to the client's service manager", message[:n])
	}
}
