package machine

import (
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Total returns the memory of the machine, in bytes.
func Total() int64 {
	var i unix.Sysinfo_t
	if err := unix.Sysinfo(&i); err != nil {
		return unknownTotal
	}
	return int64(i.Totalram) * int64(i.Unit)
}

// Available returns how many bytes processes may still allocate before the system or a control
// group kills one of them. It is the smaller of the kernel's estimate and what is left in the
// control groups of this process. A value that the system does not report is no limit.
func Available() int64 {
	have := int64(noLimit)
	if kib, ok := readField("/proc/meminfo", "MemAvailable:"); ok {
		have = min(have, kib<<10)
	}
	for _, g := range groups() {
		have = min(have, g.available())
	}
	return max(0, have)
}

// Limit returns how much memory this process may use: the smallest limit of its control groups, of
// both versions, and of the groups above them. Without a limit it is the memory of the machine.
func Limit() int64 {
	limit := Total()
	for _, g := range groups() {
		limit = min(limit, g.limit())
	}
	return limit
}

// group is a control group with a memory controller. In a container, path may be the path on the
// host, of which only the root exists.
type group struct {
	root, path string
	files      groupFiles
}

// groupFiles are the names of the files of a control group with its limit and its usage, and the
// name in memory.stat of the pages that it can reclaim.
type groupFiles struct{ limit, usage, reclaimable string }

// groups returns the control groups of this process: one for each version that limits memory.
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

// eachLevel calls do with the directory of the group and of each group above it.
func (g group) eachLevel(do func(dir string)) {
	for at := path.Clean("/" + g.path); ; at = path.Dir(at) {
		do(path.Join(g.root, at))
		if at == "/" {
			return
		}
	}
}

// available returns how many bytes are left in the group and in the groups above it.
func (g group) available() int64 {
	have := int64(noLimit)
	g.eachLevel(func(dir string) {
		limit, lok := readNumber(path.Join(dir, g.files.limit))
		usage, uok := readNumber(path.Join(dir, g.files.usage))
		if lok && uok {
			spare, _ := readField(path.Join(dir, "memory.stat"), g.files.reclaimable)
			have = min(have, limit-usage+spare)
		}
	})
	return have
}

// limit returns the smallest limit of the group and of the groups above it.
func (g group) limit() int64 {
	limit := int64(noLimit)
	g.eachLevel(func(dir string) {
		if n, ok := readNumber(path.Join(dir, g.files.limit)); ok {
			limit = min(limit, n)
		}
	})
	return limit
}

// readNumber reads a file that contains a number. ok is false for "max".
func readNumber(file string) (int64, bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64)
	return n, err == nil
}

// readField reads the number after a name in a file with a name and a number in each line.
func readField(file, name string) (int64, bool) {
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

// capIPCLock is the capability to lock memory beyond RLIMIT_MEMLOCK.
const capIPCLock = 14

// canLockAll reports whether the process may lock memory beyond RLIMIT_MEMLOCK.
func canLockAll() bool {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	_, caps, ok := strings.Cut(string(b), "CapEff:\t")
	caps, _, _ = strings.Cut(caps, "\n")
	set, err := strconv.ParseUint(caps, 16, 64)
	return ok && err == nil && set>>capIPCLock&1 == 1
}

// descriptorsDir contains an entry for each open descriptor of the process.
const descriptorsDir = "/proc/self/fd"

// filesystems are the known file systems by the type that statfs returns.
var filesystems = map[int64]Filesystem{
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

func filesystem(st *unix.Statfs_t) Filesystem { return filesystems[int64(uint32(st.Type))] }
