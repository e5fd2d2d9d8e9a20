package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sys/unix"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/machine"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/layout"
)

// Doctor warns below these values.
const (
	minDisk        = 1 << 30
	minMemory      = 1 << 30
	minDescriptors = 1024
)

func bytesText(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

func joinNames(names []string) string { return strings.Join(names, ", ") }

// checkAll makes all checks. If a daemon runs, it waits for its responses until the context ends.
func checkAll(ctx context.Context, dir string) []finding {
	found := []finding{pass("program", "tensorcache %s, %s, format %d, on %s",
		fullVersion(),
		wire.OwnProtocols.Describe(), layout.FormatVersion, machine.Kernel())}
	found = append(found, checkUser(os.Geteuid()))
	found = append(found, checkDir(dir)...)
	c, daemon := checkDaemon(ctx, dir)
	found = append(found, daemon)
	var m wire.Machine
	if c != nil {
		defer c.Close()
		if err := c.Get(ctx, "/v1/machine", &m); err != nil {
			found = append(found,
				fail("daemon's figures", "look at the end of "+
					filepath.Join(dir, control.LogFile), "%s", err))
			c = nil
		}
	}
	if c == nil {
		m = localMachine(dir)
	}
	found = append(found, checkMemory(m), checkBudget(m), checkDescriptors(m), checkMemlock(m))
	if c != nil {
		found = append(found, checkClients(ctx, c)...)
	}
	private, shared := machine.HugePages()
	return append(found, checkHugePages(private, shared),
		checkTrainerWatch(machine.Watches(), machine.InPIDNamespace()))
}

func checkUser(uid int) finding {
	if uid == 0 {
		return warn("user", "run it as the user who trains; inside a container root is usual",
			"it runs as root")
	}
	return pass("user", "uid %d", uid)
}

// checkDir checks the cache directory. If it does not exist, it checks the nearest existing parent,
// in which it would be made.
func checkDir(dir string) []finding {
	at := dir
	st, err := os.Stat(at)
	for errors.Is(err, fs.ErrNotExist) && filepath.Dir(at) != at {
		at = filepath.Dir(at)
		st, err = os.Stat(at)
	}
	if err != nil {
		return []finding{fail("cache directory",
			"name another with --dir or TENSORCACHE_DIR", "%s", err)}
	}
	var found []finding
	owner, _ := st.Sys().(*syscall.Stat_t)
	switch {
	case !st.IsDir():
		return []finding{fail("cache directory", "name another with --dir or TENSORCACHE_DIR",
			"%s is not a directory", at)}
	case unix.Access(at, unix.W_OK|unix.X_OK) != nil && owner != nil &&
		int(owner.Uid) != os.Geteuid():
		found = append(found, fail("cache directory", hintOtherUser,
			"%s belongs to uid %d and cannot be written to", at, owner.Uid))
	case unix.Access(at, unix.W_OK|unix.X_OK) != nil:
		found = append(found,
			fail("cache directory", "name another with --dir or TENSORCACHE_DIR, or make it yours",
				"%s cannot be written to", at))
	case at != dir:
		found = append(found, pass("cache directory", "%s, which the first load makes", dir))
	case owner != nil && int(owner.Uid) != os.Geteuid():
		found = append(found,
			warn("cache directory", "chown it, or name another with --dir or TENSORCACHE_DIR",
				"%s belongs to uid %d", dir, owner.Uid))
	case st.Mode().Perm()&0o077 == 0 && allowsOtherUsers(dir):
		found = append(found, warn("cache directory", "chmod 711 "+dir,
			"%s keeps the users of --allow-uid out (mode %04o)", dir, st.Mode().Perm()))
	case st.Mode().Perm()&0o077 == 0o011 && allowsOtherUsers(dir):
		found = append(found,
			pass("cache directory", "%s (mode %04o: others reach the sockets alone, for "+
				"--allow-uid)",
				dir, st.Mode().Perm()))
	case st.Mode().Perm()&0o077 != 0:
		found = append(found, warn("cache directory", "chmod 700 "+dir,
			"%s can be entered by others (mode %04o)", dir, st.Mode().Perm()))
	default:
		found = append(found, pass("cache directory", "%s (mode %04o)", dir, st.Mode().Perm()))
	}
	found = append(found, checkFilesystem(at)...)
	if left, _ := os.ReadDir(filepath.Join(dir, "datasets")); dir == at {
		found = append(found, pass("datasets", "%d on the disk", len(left)))
	}
	return found
}

// allowsOtherUsers reports whether a daemon has opened its sockets for other users, who must be
// able to enter the directory.
func allowsOtherUsers(dir string) bool {
	d, err := control.ReadDaemon(dir)
	if err != nil {
		return false
	}
	st, err := os.Stat(d.Control)
	return err == nil && st.Mode().Perm()&0o066 == 0o066
}

func checkFilesystem(dir string) []finding {
	f, err := machine.FilesystemOf(dir)
	free, total, err2 := machine.Disk(dir)
	if err := errors.Join(err, err2); err != nil {
		return []finding{fail("file system",
			"name another directory with --dir or TENSORCACHE_DIR", "%s", err)}
	}
	name, kind := cmp.Or(f.Name, "a file system that is not known"),
		pass("file system", "%s", cmp.Or(f.Name, "not known by name, taken for local"))
	switch f.Kind {
	case machine.Network:
		kind = fail("file system", "choose a local directory with --dir or TENSORCACHE_DIR",
			"%s is on %s, which keeps neither maps nor locks as promised", dir, name)
	case machine.Memory:
		kind = warn("file system",
			"for datasets that can give way to others choose a directory on a disk with --dir",
			"%s keeps its files in memory: they cannot be unloaded, and are gone after a reboot",
			name)
	}
	space := pass("disk", "%s free of %s", bytesText(free), bytesText(total))
	if free < minDisk {
		space = warn("disk",
			"remove datasets with tensorcache rm, or move the cache directory with --dir or "+
				"TENSORCACHE_DIR", "%s free of %s", bytesText(free), bytesText(total))
	}
	return []finding{kind, space}
}

// hintOtherUser is the remedy for the cache directory of another user.
const hintOtherUser = "name a directory of your own with --dir or TENSORCACHE_DIR, or let its " +
	"owner start the daemon with --allow-uid"

// checkDaemon finds the daemon and compares versions. It is no problem if none runs.
func checkDaemon(ctx context.Context, dir string) (*control.Client, finding) {
	const check = "daemon"
	d, err := control.ReadDaemon(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if !control.IsFree(dir) {
			return nil, fail(check, "wait a moment; if it stays so, end the process that "+
				filepath.Join(dir, "daemon.lock")+" names",
				"a daemon has %s, but says not where it listens", dir)
		}
		return nil, pass(check, "none runs; clients start one")
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, fail(check, hintOtherUser, "%s", err)
	}
	if err != nil {
		return nil, fail(check, "remove "+filepath.Join(dir, control.DaemonFile)+
			", or start a daemon, which writes it anew", "%s", err)
	}
	reach := unix.Faccessat(unix.AT_FDCWD, d.Control, unix.W_OK, unix.AT_EACCESS)
	if errors.Is(reach, fs.ErrPermission) {
		return nil, fail(check, hintOtherUser, "%s: %s", d.Control, reach)
	}
	c, err := control.ConnectWith(ctx, dir, nil)
	var refused *wire.Problem
	switch {
	case errors.As(err, &refused) && refused.Type == wire.Forbidden:
		return nil, fail(check, hintOtherUser, "%s", err)
	case errors.Is(err, control.ErrProtocol):
		return nil, fail(check, "end it, and the next client starts one of this version", "%s",
			err)
	case errors.Is(err, control.ErrNoDaemon) && control.IsFree(dir):
		return nil, warn(check, "nothing needs to be done: the next daemon writes it anew",
			"%s is left of a daemon that was killed (pid %d)", control.DaemonFile, d.PID)
	case errors.Is(err, control.ErrNoDaemon), ctx.Err() != nil:
		return nil, fail(check, fmt.Sprintf("look at the end of %s; kill %d ends it",
			filepath.Join(dir, control.LogFile), d.PID),
			"the daemon (pid %d) has %s but does not answer", d.PID, dir)
	case err != nil:
		return nil, fail(check, "look at the end of "+filepath.Join(dir, control.LogFile), "%s", err)
	case d.Version != version:
		return c, warn(check, "tensorcache stop --when-idle ends it once no trainer needs it, and "+
			"the next client starts one of this version",
			"tensorcache %s runs (pid %d), this program is %s", d.Version, d.PID, version)
	}
	return c, pass(check, "tensorcache %s, pid %d, up %s", d.Version, d.PID,
		time.Since(d.Started).Round(time.Second))
}

// localMachine returns the machine's figures as this process sees them, for use without a daemon.
func localMachine(dir string) wire.Machine {
	m := wire.Machine{Dir: dir, Memory: wire.MachineMemory{Total: machine.Total(),
		Available: machine.Available(), Limit: machine.Limit(), Budget: machine.Limit() / 2}}
	m.Descriptors.Open, m.Descriptors.Limit = machine.Descriptors()
	if n, ok := machine.MemlockLimit(); ok {
		m.Memory.MemlockLimit = &n
	}
	return m
}

func checkMemory(m wire.Machine) finding {
	text := fmt.Sprintf("%s available of %s", bytesText(min(m.Memory.Available, m.Memory.Limit)),
		bytesText(m.Memory.Total))
	if m.Memory.Limit < m.Memory.Total {
		text += fmt.Sprintf(", a control group allows %s", bytesText(m.Memory.Limit))
	}
	if m.Memory.Available < minMemory {
		return warn("memory",
			"tensorcache unload datasets, end other programs, or raise the group's limit", "%s",
			text)
	}
	return pass("memory", "%s", text)
}

func checkBudget(m wire.Machine) finding {
	text := fmt.Sprintf("%s for datasets and rings, %s taken", bytesText(m.Memory.Budget),
		bytesText(m.Memory.Resident+m.Memory.Rings+m.Memory.Loading))
	if m.Memory.Budget > m.Memory.Limit {
		return warn("memory budget", "start the daemon with a smaller --memory",
			"%s, which is more than the %s there are", text, bytesText(m.Memory.Limit))
	}
	return pass("memory budget", "%s", text)
}

func checkDescriptors(m wire.Machine) finding {
	const fix = "raise it: ulimit -n 4096, or LimitNOFILE= of a systemd unit"
	text := fmt.Sprintf("%d open of %d", max(m.Descriptors.Open, 0), m.Descriptors.Limit)
	switch {
	case m.Descriptors.Open > m.Descriptors.Limit*9/10:
		return fail("descriptors", fix, "%s: new trainers are not let in once none is left", text)
	case m.Descriptors.Limit < minDescriptors:
		return warn("descriptors", fix, "%s; each trainer takes about four", text)
	}
	return pass("descriptors", "%s", text)
}

func checkMemlock(m wire.Machine) finding {
	return pass("pinning", "%s may be locked in memory",
		sizeOr(m.Memory.MemlockLimit, "as much as there is"))
}

// checkClients checks the programs that have feeds.
func checkClients(ctx context.Context, c *control.Client) []finding {
	feeds, err := control.List[wire.Feeds](ctx, c, "/v1/feeds")
	if err != nil {
		return []finding{fail("clients",
			"tensorcache stop ends the daemon; the next client starts another", "%s", err)}
	}
	clients := map[string]int{}
	for _, f := range feeds {
		clients[f.Client]++
	}
	return []finding{checkClientVersions(clients)}
}

// checkClientVersions compares the versions of attached programs; clients counts them by name.
func checkClientVersions(clients map[string]int) finding {
	if len(clients) == 0 {
		return pass("clients", "no trainer is attached")
	}
	var names []string
	other := false
	for name, n := range clients {
		names = append(names, fmt.Sprintf("%s (%d)", name, n))
		if v, python := strings.CutPrefix(name, "tensorcache-python/"); python && v != version {
			other = true
		}
	}
	slices.Sort(names)
	if other {
		return warn("clients",
			"pip install -U tensorcache, so that client and daemon are of one version",
			"%s attached; this program is %s", joinNames(names), version)
	}
	return pass("clients", "%s attached", joinNames(names))
}

func checkHugePages(private, shared string) finding {
	if private == "" {
		return pass("huge pages", "none that can be set")
	}
	return pass("huge pages",
		"transparent ones are %s for private memory, %s for rings; page cache takes what the "+
			"file system gives", private, cmp.Or(shared, "never"))
}

func checkTrainerWatch(w machine.Watch, inside bool) finding {
	where := "in the machine's pid namespace"
	if inside {
		where = "in a pid namespace of its own, as in a container"
	}
	const fix = "Linux 6.5 or newer tells the daemon of the end of every trainer"
	switch w {
	case machine.WatchPeer:
		return pass("trainers' end",
			"told by the system, also from other pid namespaces; %s", where)
	case machine.WatchPID:
		return warn("trainers' end", fix,
			"told by the system for trainers of one pid namespace; of others only the end of "+
				"their connection tells (%s)", where)
	}
	return warn("trainers' end", fix,
		"only the end of a connection tells: a child that a killed trainer has forked holds its "+
			"memory up (%s)", where)
}
