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

// finds holds a finding to its state, and to a remedy where it is not ok.
func finds(t *testing.T, f finding, state, says string) {
	t.Helper()
	if f.State != state || !strings.Contains(f.Detail, says) || f.Fix == "" != (state == isOK) {
		t.Errorf("%+v, want %s with %q", f, state, says)
	}
}

func TestEachThingThatMayBeWrongIsFound(t *testing.T) {
	finds(t, examineUser(0), isWarn, "it runs as root")
	finds(t, examineUser(1000), isOK, "uid 1000")

	m := wire.Machine{Memory: wire.MachineMemory{Total: 64 << 30, Available: 8 << 30,
		Limit: 64 << 30, Budget: 32 << 30}, Descriptors: wire.Descriptors{Open: 20, Limit: 20000}}
	finds(t, examineMemory(m), isOK, "8.0 GiB available of 64 GiB")
	finds(t, examineBudget(m), isOK, "32 GiB for datasets and rings, 0 B taken")
	finds(t, examineDescriptors(m), isOK, "20 open of 20000")
	finds(t, examineLock(m), isOK, "as much as there is may be locked")
	small := m
	small.Memory.Limit, small.Memory.Available = 4<<30, 100<<20
	finds(t, examineMemory(small), isWarn, "a control group allows 4.0 GiB")
	finds(t, examineBudget(small), isWarn, "which is more than the 4.0 GiB there are")
	small.Descriptors = wire.Descriptors{Open: 20, Limit: 256}
	finds(t, examineDescriptors(small), isWarn, "20 open of 256")
	small.Descriptors.Open = 250
	finds(t, examineDescriptors(small), isFail, "250 open of 256")

	finds(t, examineWatch(machine.WatchPeer, false), isOK, "also from other pid namespaces")
	finds(t, examineWatch(machine.WatchPID, true), isWarn, "as in a container")
	finds(t, examineWatch(machine.WatchNothing, false), isWarn,
		"only the end of a connection tells")
	finds(t, judgeClients(nil), isOK, "no trainer is attached")
	finds(t, judgeClients(map[string]int{"tensorcache-python/" + version: 2,
		"tensorcache-go/1": 1}), isOK, "tensorcache-go/1 (1), tensorcache-python/"+version+
		" (2) attached")
	finds(t, judgeClients(map[string]int{"tensorcache-python/0.0.9": 1}), isWarn,
		"tensorcache-python/0.0.9 (1) attached; this program is "+version)
	finds(t, examineHugePages("", ""), isOK, "none")
	finds(t, examineHugePages("madvise", "never"), isOK,
		"madvise for private memory, never for rings")
}

func TestTheCacheDirectoryIsExamined(t *testing.T) {
	dir := t.TempDir()
	finds(t, examineDir(filepath.Join(dir, "not", "yet"))[0], isOK, "which the first load makes")
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	finds(t, examineDir(dir)[0], isWarn, "can be entered by others (mode 0755)")
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	finds(t, examineDir(dir)[0], isOK, "(mode 0700)")
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	finds(t, examineDir(file)[0], isFail, "is no directory")
	if os.Getuid() == 0 {
		if err := os.Chown(dir, 12345, -1); err != nil {
			t.Fatal(err)
		}
		finds(t, examineDir(dir)[0], isWarn, "belongs to uid 12345")
	}
	if f, err := machine.FilesystemOf("/proc"); err == nil && f.Kind == machine.Local {
		finds(t, examineFilesystem("/proc")[0], isOK, "not known by name")
		finds(t, examineFilesystem("/proc")[1], isWarn, "0 B free")
	}
	finds(t, examineFilesystem(filepath.Join(dir, "none"))[0], isFail, "no such file")
}

func TestADirectoryThatOtherUsersPassToTheSocketsIsWell(t *testing.T) {
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
		return examineDir(dir)[0]
	}
	finds(t, with(0o711, 0o666), isOK,
		"(mode 0711: others reach the sockets alone, for --allow-uid)")
	finds(t, with(0o711, 0o600), isWarn, "can be entered by others (mode 0711)")
	finds(t, with(0o700, 0o666), isWarn, "keeps the users of --allow-uid out (mode 0700)")
	finds(t, with(0o755, 0o666), isWarn, "can be entered by others (mode 0755)")
	finds(t, with(0o700, 0o600), isOK, "(mode 0700)")
}

func TestADaemonThatIsGoneOrStuckIsFound(t *testing.T) {
	dir := t.TempDir()
	found := func(state, says string) {
		t.Helper()
		c, f := examineDaemon(t.Context(), dir)
		if c != nil {
			t.Error("there is a daemon")
		}
		finds(t, f, state, says)
	}
	found(isOK, "none runs")
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	d := wire.Daemon{PID: 1 << 22, Version: version, Protocol: wire.Protocol,
		Control: filepath.Join(dir, "control.sock")}
	if err := control.WriteDaemon(dir, d); err != nil {
		t.Fatal(err)
	}
	found(isWarn, "daemon.json is left of a daemon that was killed")
	lock, err := os.Create(filepath.Join(dir, "daemon.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	found(isFail, "does not answer")
	if err := os.Remove(filepath.Join(dir, control.DaemonFile)); err != nil {
		t.Fatal(err)
	}
	found(isFail, "says not where it listens")
	if err := os.WriteFile(filepath.Join(dir, control.DaemonFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	found(isFail, "damaged")
}

func TestADaemonOfAnotherVersionIsFound(t *testing.T) {
	dir := t.TempDir()
	d := start(t, dir, "", os.Args[0], "serve", "--dir", dir, "--ready-fd", "3")
	defer d.stop()
	c, f := examineDaemon(t.Context(), dir)
	finds(t, f, isOK, "tensorcache "+version+", pid ")
	c.Close()
	other, err := control.ReadDaemon(dir)
	if err != nil {
		t.Fatal(err)
	}
	mine := other
	other.Version = "0.0.1"
	if err := control.WriteDaemon(dir, other); err != nil {
		t.Fatal(err)
	}
	c, f = examineDaemon(t.Context(), dir)
	finds(t, f, isWarn, "tensorcache 0.0.1 runs")
	c.Close()
	other.Protocol = 99
	if err := control.WriteDaemon(dir, other); err != nil {
		t.Fatal(err)
	}
	_, f = examineDaemon(t.Context(), dir)
	finds(t, f, isFail, "speaks protocol 99")
	if err := control.WriteDaemon(dir, mine); err != nil {
		t.Fatal(err)
	}
	d.halt()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	_, f = examineDaemon(ctx, dir)
	cancel()
	if err := unix.Kill(d.Process.Pid, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	finds(t, f, isFail, "does not answer")
	conn, err := net.Dial("unix", mine.Feed)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	for _, f := range examine(t.Context(), dir) {
		if f.State == isFail || f.Fix == "" != (f.State == isOK) {
			t.Errorf("%+v of a daemon that is well", f)
		}
	}
}
