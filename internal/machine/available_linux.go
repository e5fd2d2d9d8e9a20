package machine

import (
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Total is the machine's memory in bytes.
func Total() int64 {
	var i unix.Sysinfo_t
	if err := unix.Sysinfo(&i); err != nil {
		return fallback
	}
	return int64(i.Totalram) * int64(i.Unit)
}

// Available is how many bytes this process and those beside it may still take before the system or
// a control group ends one of them: the least of the kernel's own estimate and what is left to each
// group that we are in. What does not tell is no bound.
func Available() int64 {
	have := int64(unbounded)
	if kib, ok := fieldOf("/proc/meminfo", "MemAvailable:"); ok {
		have = min(have, kib<<10)
	}
	for _, g := range groups() {
		have = min(have, g.left())
	}
	return max(0, have)
}

// Limit is the memory that this process may take in all: the least limit of the control groups that
// it is in and of those above them, of either version, else the machine's memory.
func Limit() int64 {
	limit := Total()
	for _, g := range groups() {
		limit = min(limit, g.least())
	}
	return limit
}

// group is a control group with a memory controller. In a container the path may be that of the
// host, of which only the top is there.
type group struct {
	root, path string
	files      groupFiles
}

// groupFiles are the names of a control group's limit, of what it uses, and, in memory.stat, of the
// pages that it would give up.
type groupFiles struct{ limit, usage, reclaimable string }

// groups are those of this process: one by each version that counts memory.
func groups() (out []group) {
	lines, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(lines)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[0] == "0":
			out = append(out,
				group{"/sys/fs/cgroup", parts[2],
					groupFiles{"memory.max", "memory.current", "inactive_file"}})
		case parts[1] == "memory":
			out = append(out,
				group{"/sys/fs/cgroup/memory", parts[2],
					groupFiles{"memory.limit_in_bytes", "memory.usage_in_bytes",
						"total_inactive_file"}})
		}
	}
	return out
}

// above calls do with the directory of the group and of each one above it.
func (g group) above(do func(dir string)) {
	for at := path.Clean("/" + g.path); ; at = path.Dir(at) {
		do(path.Join(g.root, at))
		if at == "/" {
			return
		}
	}
}

// left is the least that is left to a group and those above it.
func (g group) left() int64 {
	have := int64(unbounded)
	g.above(func(dir string) {
		limit, lok := numberIn(path.Join(dir, g.files.limit))
		usage, uok := numberIn(path.Join(dir, g.files.usage))
		if lok && uok {
			spare, _ := fieldOf(path.Join(dir, "memory.stat"), g.files.reclaimable)
			have = min(have, limit-usage+spare)
		}
	})
	return have
}

// least is the least limit of a group and those above it.
func (g group) least() int64 {
	limit := int64(unbounded)
	g.above(func(dir string) {
		if n, ok := numberIn(path.Join(dir, g.files.limit)); ok {
			limit = min(limit, n)
		}
	})
	return limit
}

// numberIn reads a file that holds a number; "max" is none.
func numberIn(file string) (int64, bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64)
	return n, err == nil
}

// fieldOf reads the number behind a name in a file of such lines.
func fieldOf(file, name string) (int64, bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == name {
			n, err := strconv.ParseInt(f[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// capIPCLock is the capability by which RLIMIT_MEMLOCK is no bound.
const capIPCLock = 14

// mayLock tells whether the process may lock memory beyond its limit.
func mayLock() bool {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	_, caps, ok := strings.Cut(string(b), "CapEff:\t")
	caps, _, _ = strings.Cut(caps, "\n")
	set, err := strconv.ParseUint(caps, 16, 64)
	return ok && err == nil && set>>capIPCLock&1 == 1
}

// descriptorsDir lists the process's open descriptors.
const descriptorsDir = "/proc/self/fd"

// kindOf names file systems by the number that statfs gives.
var kindOf = map[int64]Filesystem{
	unix.NFS_SUPER_MAGIC: {"NFS", Network}, unix.SMB_SUPER_MAGIC: {"SMB", Network},
	unix.SMB2_SUPER_MAGIC: {"SMB2", Network}, unix.CIFS_SUPER_MAGIC: {"CIFS", Network},
	unix.V9FS_MAGIC: {"9p", Network}, unix.CEPH_SUPER_MAGIC: {"Ceph", Network},
	unix.AFS_SUPER_MAGIC: {"AFS", Network}, unix.CODA_SUPER_MAGIC: {"Coda", Network},
	0x0BD00BD0: {"Lustre", Network}, 0x47504653: {"GPFS", Network}, 0x19830326: {"BeeGFS", Network},
	unix.TMPFS_MAGIC: {"tmpfs", Memory}, unix.RAMFS_MAGIC: {"ramfs", Memory},
	unix.EXT4_SUPER_MAGIC: {"ext4", Local}, unix.XFS_SUPER_MAGIC: {"xfs", Local},
	unix.BTRFS_SUPER_MAGIC: {"btrfs", Local}, unix.F2FS_SUPER_MAGIC: {"f2fs", Local},
	unix.OVERLAYFS_SUPER_MAGIC: {"overlay", Local}, 0x2FC12FC1: {"zfs", Local},
}

func filesystem(st *unix.Statfs_t) Filesystem { return kindOf[int64(uint32(st.Type))] }
