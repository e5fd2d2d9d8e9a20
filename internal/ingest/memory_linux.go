package ingest

import (
	"bytes"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// availableMemory is how many bytes this process and those beside it may still take before the system or a control group
// ends one of them: the least of the kernel's own estimate and what is left to each group that we are in. What does not tell is
// no bound.
func availableMemory() int64 {
	have := int64(math.MaxInt64 / 2)
	if kib, ok := fieldOf("/proc/meminfo", "MemAvailable:"); ok {
		have = min(have, kib<<10)
	}
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[0] == "0":
			have = min(have, leftInGroups("/sys/fs/cgroup", parts[2], groupFiles{"memory.max", "memory.current", "inactive_file"}))
		case parts[1] == "memory":
			have = min(have, leftInGroups("/sys/fs/cgroup/memory", parts[2], groupFiles{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}))
		}
	}
	return max(0, have)
}

// groupFiles are the names of a control group's limit, of what it uses, and, in memory.stat, of the pages that it would give up.
type groupFiles struct{ limit, usage, reclaimable string }

// leftInGroups is the least that is left to a group and those above it.
func leftInGroups(root, group string, f groupFiles) int64 {
	have := int64(math.MaxInt64 / 2)
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		dir := path.Join(root, group)
		limit, lok := numberIn(path.Join(dir, f.limit))
		usage, uok := numberIn(path.Join(dir, f.usage))
		if lok && uok {
			spare, _ := fieldOf(path.Join(dir, "memory.stat"), f.reclaimable)
			have = min(have, limit-usage+spare)
		}
		if group == "/" {
			return have
		}
	}
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
