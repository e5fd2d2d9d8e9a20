package main

import "golang.org/x/sys/unix"

// totalMemory is the machine's memory in bytes.
func totalMemory() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 4 << 30
	}
	return int64(n)
}
