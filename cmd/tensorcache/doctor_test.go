package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/machine"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// checkFinding wants a finding with this state, and with a fix if it is not ok.
func checkFinding(t *testing.T, f finding, state, says string) {
	t.Helper()
	if f.State != state || !strings.Contains(f.Detail, says) || f.Fix == "" != (state == stateOK) {
		t.Errorf("%+v, want %s with %q", f, state, says)
	}
}

func TestDoctorFindsEachProblem(t *testing.T) {
	checkFinding(t, checkUser(0), stateWarn, "it runs as root")
	checkFinding(t, checkUser(1000), stateOK, "uid 1000")

	m := wire.Machine{Memory: wire.MachineMemory{Total: 64 << 30, Available: 8 << 30,
		Limit: 64 << 30, Budget: 32 << 30}, Descriptors: wire.Descriptors{Open: 20, Limit: 20000}}
	checkFinding(t, checkMemory(m), stateOK, "8.0 GiB available of 64 GiB")
	checkFinding(t, checkBudget(m), stateOK, "32 GiB for datasets and rings, 0 B taken")
	checkFinding(t, checkDescriptors(m), stateOK, "20 open of 20000")
	checkFinding(t, checkMemlock(m), stateOK, "as much as there is may be locked")
	small := m
	small.Memory.Limit, small.Memory.Available = 4<<30, 100<<20
	checkFinding(t, checkMemory(small), stateWarn, "a control group allows 4.0 GiB")
	checkFinding(t, checkBudget(small), stateWarn, "which is more than the 4.0 GiB there are")
	small.Descriptors = wire.Descriptors{Open: 20, Limit: 256}
	checkFinding(t, checkDescriptors(small), stateWarn, "20 open of 256")
	small.Descriptors.Open = 250
	checkFinding(t, checkDescriptors(small), stateFail, "250 open of 256")

	checkFinding(t, checkTrainerWatch(machine.WatchPeer, false), stateOK, "also from other pid "+
		"namespaces")
	checkFinding(t, checkTrainerWatch(machine.WatchPID, true), stateWarn, "as in a container")
	checkFinding(t, checkTrainerWatch(machine.WatchNothing, false), stateWarn,
		"only the end of a connection tells")
	checkFinding(t, checkClientVersions(nil), stateOK, "no trainer is attached")
	checkFinding(t, checkClientVersions(map[string]int{"tensorcache-python/" + version: 2,
		"tensorcache-go/1": 1}), stateOK, "tensorcache-go/1 (1), tensorcache-python/"+version+
		" (2) attached")
	checkFinding(t, checkClientVersions(map[string]int{"tensorcache-python/0.0.9": 1}), stateWarn,
		"tensorcache-python/0.0.9 (1) attached; this program is "+version)
	checkFinding(t, checkHugePages("", ""), stateOK, "none")
	checkFinding(t, checkHugePages("madvise", "never"), stateOK,
		"madvise for private memory, never for rings")
}

func TestDoctorChecksTheCacheDirectory(t *testing.T) {
	dir := t.TempDir()
	checkFinding(t, checkDir(filepath.Join(dir, "not", "yet"))[0], stateOK,
		"which the first load makes")
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	checkFinding(t, checkDir(dir)[0], stateWarn, "can be entered by others (mode 0755)")
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	checkFinding(t, checkDir(dir)[0], stateOK, "(mode 0700)")
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	checkFinding(t, checkDir(file)[0], stateFail, "is not a directory")
	if os.Getuid() == 0 {
		if err := os.Chown(dir, 12345, -1); err != nil {
			t.Fatal(err)
		}
		checkFinding(t, checkDir(dir)[0], stateWarn, "belongs to uid 12345")
	}
	if f, err := machine.FilesystemOf("/proc"); err == nil && f.Kind == machine.Local {
		checkFinding(t, checkFilesystem("/proc")[0], stateOK, "not known by name")
		checkFinding(t, checkFilesystem("/proc")[1], stateWarn, "0 B free")
	}
	checkFinding(t, checkFilesystem(filepath.Join(dir, "none"))[0], stateFail, "no such file")
}

func TestDoctorAcceptsADirectoryThatServeHasOpened(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "control.sock")
	if err := errors.Join(os.WriteFile(socket, nil, 0o600),
		os.Mkdir(filepath.Join(dir, "tmp"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := control.WriteDaemon(dir, wire.Daemon{Control: socket}); err != nil {
		t.Fatal(err)
	}
	with := func(directory, sock os.FileMode) finding {
		t.Helper()
		for path, mode := range map[string]os.FileMode{dir: directory, socket: sock} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		return checkDir(dir)[0]
	}
	checkFinding(t, with(0o711, 0o666), stateOK,
		"(mode 0711: others reach the sockets alone, for --allow-uid)")
	checkFinding(t, with(0o711, 0o600), stateWarn, "can be entered by others (mode 0711)")
	checkFinding(t, with(0o700, 0o666), stateWarn, "keeps the users of --allow-uid out (mode 0700)")
	checkFinding(t, with(0o755, 0o666), stateWarn, "can be entered by others (mode 0755)")
	checkFinding(t, with(0o700, 0o600), stateOK, "(mode 0700)")
}

func TestDoctorFindsADaemonThatWasKilledOrBlocks(t *testing.T) {
	dir := t.TempDir()
	found := func(state, says string) {
		t.Helper()
		c, f := checkDaemon(t.Context(), dir)
		if c != nil {
			t.Error("there is a daemon")
		}
		checkFinding(t, f, state, says)
	}
	found(stateOK, "none runs")
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	d := wire.Daemon{PID: 1 << 22, Version: version, Protocols: wire.OwnProtocols,
		Control: filepath.Join(dir, "control.sock")}
	if err := control.WriteDaemon(dir, d); err != nil {
		t.Fatal(err)
	}
	found(stateWarn, "daemon.json is left of a daemon that was killed")
	lock, err := os.Create(filepath.Join(dir, "daemon.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	found(stateFail, "does not answer")
	if err := os.Remove(filepath.Join(dir, control.DaemonFile)); err != nil {
		t.Fatal(err)
	}
	found(stateFail, "says not where it listens")
	if err := os.WriteFile(filepath.Join(dir, control.DaemonFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	found(stateFail, "damaged")
}

func TestDoctorFindsADaemonOfAnotherVersion(t *testing.T) {
	dir := t.TempDir()
	d := startFaulty(t, dir, "", os.Args[0], "serve", "--dir", dir, "--ready-fd", "3")
	defer d.stop()
	c, f := checkDaemon(t.Context(), dir)
	checkFinding(t, f, stateOK, "tensorcache "+version+", pid ")
	c.Close()
	other, err := control.ReadDaemon(dir)
	if err != nil {
		t.Fatal(err)
	}
	daemon := other
	other.Version = "0.0.1"
	if err := control.WriteDaemon(dir, other); err != nil {
		t.Fatal(err)
	}
	c, f = checkDaemon(t.Context(), dir)
	checkFinding(t, f, stateWarn, "tensorcache 0.0.1 runs")
	c.Close()
	other.Protocols = wire.Protocols{Newest: 99}
	if err := control.WriteDaemon(dir, other); err != nil {
		t.Fatal(err)
	}
	_, f = checkDaemon(t.Context(), dir)
	checkFinding(t, f, stateFail, "speaks protocol 99")
	if err := control.WriteDaemon(dir, daemon); err != nil {
		t.Fatal(err)
	}
	d.halt()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	_, f = checkDaemon(ctx, dir)
	cancel()
	if err := unix.Kill(d.Process.Pid, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	checkFinding(t, f, stateFail, "does not answer")
	conn, err := net.Dial("unix", daemon.Feed)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	for _, f := range checkAll(t.Context(), dir) {
		if f.State == stateFail || f.Fix == "" != (f.State == stateOK) {
			t.Errorf("%+v of a daemon that is well", f)
		}
	}
}
